"""A file is there whole, or as it was before."""

from __future__ import annotations

import json
import os
import stat
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


def test_files_of_one_version_are_put_in_place_after_a_death_between_two_of_them(tmp_path):
    paths = tmp_path / "a", tmp_path / "b"
    for path in paths:
        write_text(path, "old")
    real, done = os.replace, []

    def dying(source, target):
        if len(done) == 2:  # the list of files, the first of them, and no more
            raise KeyboardInterrupt
        done.append(target)
        real(source, target)

    def writing():
        with atomic_write(*paths) as files:
            for file in files:
                file.write(b"new")

    with patch.object(os, "replace", dying), pytest.raises(KeyboardInterrupt):
        writing()
    assert [path.read_text() for path in paths] == ["new", "old"]
    settle(tmp_path)
    assert [path.read_text() for path in paths] == ["new", "new"]
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
