"""A file is there whole, or as it was before."""

from __future__ import annotations

import json
import os
import stat
import threading
from unittest.mock import patch

import pytest

from falcon_discover.runtime.atomic import atomic_write, settle, write_text


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError, SystemExit])
def test_what_was_there_stays_when_writing_ends_early(tmp_path, end):
    write_text(tmp_path / "kept.txt", "before")
    paths = tmp_path / "kept.txt", tmp_path / "new.txt"

    def interrupted():
        with atomic_write(*paths) as (kept, new):
            kept.write(b"half of")
            new.write(b"whole")
            raise end

    with pytest.raises(end):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert paths[0].read_text() == "before"


def test_several_files_take_their_names_only_when_all_are_whole(tmp_path, monkeypatch):
    synced = []

    def full_after_one(file):
        if synced:
            raise OSError(28, "No space left on device")
        synced.append(file)

    monkeypatch.setattr(os, "fsync", full_after_one)
    with pytest.raises(OSError, match="No space"), atomic_write(tmp_path / "a", tmp_path / "b"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_text(tmp_path / "ours", "")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "ours")}
    assert len(modes) == 1


def test_text_is_utf_8_whatever_the_locale(tmp_path):
    assert write_text(tmp_path / "words", "größer\n").read_bytes() == "größer\n".encode()


def written(folder, text):
    with atomic_write(folder / "a", folder / "b") as files:
        for file in files:
            file.write(text.encode())


def texts(folder):
    return [(folder / name).read_text() for name in ("a", "b")]


@pytest.fixture
def half_done(tmp_path):
    """A folder in which a process died after the first of two renames."""
    written(tmp_path, "old")
    real, done = os.replace, []

    def dying(source, target):
        if len(done) == 2:  # the list of files, the first of them, and no more
            raise SystemExit
        done.append(target)
        real(source, target)

    with patch.object(os, "replace", dying), pytest.raises(SystemExit):
        written(tmp_path, "new")
    assert texts(tmp_path) == ["new", "old"]
    return tmp_path


def test_files_of_one_version_are_put_in_place_after_a_death_between_two_of_them(half_done):
    settle(half_done)
    assert texts(half_done) == ["new", "new"]
    assert sorted(path.name for path in half_done.iterdir()) == ["a", "b"]


def test_what_a_dead_process_left_is_never_put_over_a_later_version(half_done):
    written(half_done, "newest")
    settle(half_done)
    assert texts(half_done) == ["newest", "newest"]
    assert sorted(path.name for path in half_done.iterdir()) == ["a", "b"]


def test_ctrl_c_between_two_files_finishes_them_and_says_so(tmp_path):
    written(tmp_path, "old")
    real, done = os.replace, []

    def interrupted(source, target):
        real(source, target)
        done.append(target)
        if len(done) == 2:
            raise KeyboardInterrupt

    with patch.object(os, "replace", interrupted), pytest.raises(KeyboardInterrupt) as ended:
        written(tmp_path, "new")
    assert texts(tmp_path) == ["new", "new"]
    assert ended.value.__notes__ == [f"The results in {tmp_path} are complete."]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot lock folders")
def test_two_that_write_the_same_files_do_not_mix_their_versions(tmp_path):
    real, started, go_on = os.replace, threading.Event(), threading.Event()

    def slow(source, target):
        real(source, target)
        if threading.current_thread().name == "first" and target.name == "a":
            started.set()
            go_on.wait(10)

    first = threading.Thread(target=written, args=(tmp_path, "first"), name="first")
    second = threading.Thread(target=written, args=(tmp_path, "second"), name="second")
    with patch.object(os, "replace", slow):
        first.start()
        assert started.wait(10)
        second.start()
        second.join(0.2)
        assert second.is_alive()
        go_on.set()
        first.join(10)
        second.join(10)
    assert texts(tmp_path) == ["second", "second"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    "names",
    [
        {".a-1.partial": "../a"},
        {"../.a-1.partial": "a"},
        {".b-1.partial": "a"},
        {"a": "b"},
        {".a-1.partial": 3},
        ["a"],
        "not json",
    ],
)
def test_a_list_that_names_other_places_is_left_alone(tmp_path, names):
    folder = tmp_path / "folder"
    folder.mkdir()
    for place in (folder / ".a-1.partial", folder / ".b-1.partial", tmp_path / ".a-1.partial"):
        place.write_text("theirs")
    (folder / "a").write_text("mine")
    text = names if isinstance(names, str) else json.dumps(names)
    (folder / ".x.commit").write_text(text)
    settle(folder)
    assert (folder / "a").read_text() == "mine"
    assert not (tmp_path / "a").exists()
