"""Objects as skops files: only types that are known, or that the caller trusts, are made."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.optional import require
from falcon_discover.storage import bounds, schema
from falcon_discover.storage.checked import check_models
from falcon_discover.storage.known import ROLES


class UntrustedTypesError(InputError):
    """A file holds types that are not known to be safe, and that nobody vouched for.

    `about` says what is in which file, without advice; `types` are the full names.
    """

    def __init__(self, name: str, types: Collection[str]) -> None:
        self.types = sorted(types)
        self.about = f"{name} holds types that are not known to be safe: {', '.join(self.types)}."
        super().__init__(
            f"{self.about} If you trust its author, load it with trusted={self.types!r}."
        )


def dumped(content: Any) -> tuple[bytes, list[str]]:
    """Return a skops file with the given content, and the types in it that must be trusted.

    The file is read back once: what cannot be is not worth saving.
    """
    io = _skops("saving an audit")
    try:
        data = io.dumps(content)
        strange = _unknown(io, data, frozenset(), "it")
        _made(io, data, strange, "it")
    except Exception as error:  # skops leaves the errors of the objects as they are
        raise InputError(
            f"the audit cannot be saved, a part of its model or settings cannot be stored "
            f"({type(error).__name__}: {error}). Functions that were defined on the spot, such as "
            "lambdas, cannot: put them into a module."
        ) from error
    return data, sorted(strange)


def loaded(data: bytes, trusted: Collection[str], *, name: str, limit: int) -> Any:
    """Return the content of a skops file, if all its types are known or trusted.

    It may unpack to `limit` bytes at most; `name` is what errors call it.
    """
    io = _skops("loading it")
    data = bounds.unpacked(data, limit, name)
    with bounds.reading(name, "is not a skops file"):
        data = schema.with_new_names(data)
        unknown = _unknown(io, data, frozenset(trusted), name)
    if unknown:
        raise UntrustedTypesError(name, unknown)
    with bounds.reading(name, "cannot be read back"):
        return _made(io, data, trusted, name)


def read_model(path: Path, trusted: Collection[str] = ()) -> Any:
    """Load a model from a skops file; types that are not known must be named as trusted."""
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    _skops("--model")
    data = path.read_bytes()
    if not zipfile.is_zipfile(BytesIO(data)):
        raise InputError(f"{path} is not a skops file. Write one with skops.io.dump(model, file).")
    return loaded(data, trusted, name=str(path), limit=bounds.allowed(len(data)))


def _unknown(io: Any, data: bytes, trusted: frozenset[str], name: str) -> set[str]:
    """Return the types that are neither known, in their role, nor trusted."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        unsafe = schema.check(bounds.read_member(archive, "schema.json"), trusted, name)
    return ((set(io.get_untrusted_types(data=data)) - set(ROLES)) | unsafe) - trusted


def _made(io: Any, data: bytes, trusted: Collection[str], name: str) -> Any:
    content = io.loads(data, trusted=sorted({*trusted, *ROLES}))
    check_models(content, name)
    return content


def _skops(what: str) -> Any:
    return require("skops.io", extra="skops", what=what)
