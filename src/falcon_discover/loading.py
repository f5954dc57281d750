"""`load()`: a saved audit back, without unpickling anything."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from falcon_discover.estimator import FalconDiscover
from falcon_discover.persistence.archive import Archive
from falcon_discover.persistence.contents import restored


def load(source: str | Path | bytes, *, trusted: Collection[str] = ()) -> FalconDiscover:
    """Return the audit that `FalconDiscover.save` wrote.

    Nothing is unpickled. Types that are not known to be safe are refused; so are files of a newer
    schema, and files with a part that is missing or was altered.

    Parameters
    ----------
    source : the file, or its bytes
    trusted : full names of further types to accept, such as a transformer of your own in the
        audited pipeline. Making an object of a type may run that type's code: name only what you
        know.

    See Also
    --------
    FalconDiscover.save : writes the file, and has an example of both
    """
    archive = Archive.open(source if isinstance(source, bytes) else Path(source))
    parameters, attributes = restored(archive.manifest, archive.parts(), trusted, archive.name)
    falcon = FalconDiscover(**parameters)
    for name, value in attributes.items():
        setattr(falcon, name, value)
    return falcon
