"""A file is there whole, or as it was before."""

from __future__ import annotations

import os
import stat

import pytest

from falcon_discover.runtime.atomic import atomic_write, write_text


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
