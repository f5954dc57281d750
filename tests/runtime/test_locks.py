"""One lock for every system, and no module that only some systems have."""

from __future__ import annotations

import subprocess
import sys

import pytest

from falcon_discover import InputError
from falcon_discover.runtime import locks

# The libraries keep their own ways; what must not be needed is what this package asks for.
WITHOUT_POSIX = """
import builtins, importlib, pkgutil
import falcon_discover

plain = builtins.__import__

def elsewhere(name, globals=None, locals=None, fromlist=(), level=0):
    asked_by = (globals or {}).get("__name__", "")
    if name in ("fcntl", "resource") and asked_by.startswith("falcon_discover"):
        raise ImportError(f"no module named {name}")
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = elsewhere
for module in pkgutil.walk_packages(falcon_discover.__path__, "falcon_discover."):
    # Networks need torch, which may not be there.
    if not module.name.endswith(("__main__", "deep.networks")):
        importlib.import_module(module.name)
from falcon_discover.bench.memory import peak_memory_mb
assert peak_memory_mb() is None
"""


def test_every_module_can_be_imported_where_there_is_no_fcntl_and_no_resource():
    pytest.importorskip("distributed")
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, "-c", WITHOUT_POSIX], check=True)


def test_a_lock_has_one_holder_at_a_time(tmp_path):
    with locks.held(tmp_path / "lock") as mine:
        assert mine
        with locks.held(tmp_path / "lock") as other:
            assert not other
    with locks.held(tmp_path / "lock") as mine:
        assert mine


def test_a_lock_that_is_a_link_leaves_its_target_alone(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a symbolic link"), locks.held(tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"
