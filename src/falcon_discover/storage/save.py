"""Saving a fitted audit in one file, without pickle; `falcon_discover.load` reads it."""

from __future__ import annotations

from pathlib import Path

from falcon_discover.audit.aliases import Keep
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.storage import archive
from falcon_discover.storage.contents import stored


def save(falcon: FalconDiscover, path: Path, reference: Keep) -> Path:
    """Save a fitted audit in one file; `FalconDiscover.save` says what may be asked for."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}: make it first.")
    manifest, parts, strange = stored(falcon, reference)
    archive.write(path, manifest, parts)
    if strange:
        options = " ".join(f"--trust {name}" for name in strange)
        notices.warn(
            f"{path} holds types that are not known to be safe, so loading it will need your "
            f"word for them: load(path, trusted={strange!r}), or 'falcon-discover score ... "
            f"{options}'."
        )
    return path
