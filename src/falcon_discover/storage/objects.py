"""Objects as skops files: only types that are known, or that the caller trusts, are made.

What a file asks for is looked at before any object is made.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator, Set
from io import BytesIO
from pathlib import Path
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.moved import RENAMED, new_names
from falcon_discover.runtime.optional import require
from falcon_discover.storage import bounds
from falcon_discover.storage.checked import check_models
from falcon_discover.storage.known import CHECK_ARRAY, FUNCTION, OWN, PARTIAL, ROLES

Node = dict[str, Any]
ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}
OPTIONS = ("JsonNode", "ListNode", "TypeNode")


class UntrustedTypesError(InputError):
    """A file holds types that are not known to be safe, and that nobody vouched for.

    `about` says what is in which file, without advice; `types` are the full names.
    """

    def __init__(self, name: str, types: Collection[str]) -> None:
        self.types = sorted(types)
        self.about = (
            f"{name} contains types that are not known to be safe: {', '.join(self.types)}."
        )
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
            "the audit cannot be saved: a part of its model or settings cannot be stored "
            f"({type(error).__name__}: {error}). Move functions defined inline, such as lambdas, "
            "into a module."
        ) from error
    return data, sorted(strange)


def loaded(data: bytes, trusted: Collection[str], *, name: str, limit: int) -> Any:
    """Return the content of a skops file, if all its types are known or trusted.

    It may unpack to `limit` bytes at most; `name` is what errors call it.
    """
    io = _skops("loading it")
    data = bounds.unpacked(data, limit, name)
    with bounds.reading(name, "is not a skops file"):
        data = with_new_names(data)
        unknown = _unknown(io, data, frozenset(trusted), name)
    if unknown:
        raise UntrustedTypesError(name, unknown)
    with bounds.reading(name, "cannot be read back"):
        return _made(io, data, trusted, name)


def read_model(path: Path, trusted: Collection[str] = ()) -> Any:
    """Load a model from a skops file; types that are not known must be named as trusted."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: check the path.")
    _skops("--model")
    data = path.read_bytes()
    if not zipfile.is_zipfile(BytesIO(data)):
        raise InputError(f"{path} is not a skops file. Write one with skops.io.dump(model, file).")
    return loaded(data, trusted, name=str(path), limit=bounds.allowed(len(data)))


def _unknown(io: Any, data: bytes, trusted: frozenset[str], name: str) -> set[str]:
    """Return the types that are neither known, in their role, nor trusted."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        unsafe = check_roles(bounds.read_member(archive, "schema.json"), trusted, name)
    return ((set(io.get_untrusted_types(data=data)) - set(ROLES)) | unsafe) - trusted


def _made(io: Any, data: bytes, trusted: Collection[str], name: str) -> Any:
    content = io.loads(data, trusted=sorted({*trusted, *ROLES}))
    check_models(content, name)
    return content


def _skops(what: str) -> Any:
    return require("skops.io", extra="skops", what=what)


def check_roles(text: bytes, trusted: Set[str], name: str) -> set[str]:
    """Raise if a known type is asked for in a role that `skops.io.dump` does not give it.

    `text` is the file's `schema.json`; `trusted` types are vouched for in any role. Returned are
    known types that are not safe in the shape they have in this file.
    """
    unsafe = set()
    roles: dict[Any, tuple[Any, ...]] = {}
    for node in _nodes(json.loads(text)):
        role, full_name = node.get("__loader__"), _full_name(node)
        # skops makes one object of all that share an id, whatever else they say.
        same = roles.setdefault(node.get("__id__"), (role, full_name))
        if node.get("__id__") is not None and same != (role, full_name):
            raise InputError(f"{name} was altered: two of its objects share one id.")
        # Arrays and matrices are looked at by the names of their members.
        if "file" in node and not str(node["file"]).endswith(ENDINGS.get(str(role), "")):
            raise InputError(f"{name} was altered: an array is in a part of another kind.")
        if full_name in ROLES and full_name not in trusted:
            if role not in ROLES[full_name]:
                raise InputError(f"{name} uses {full_name} as {role}, which no saved model does.")
            if role == "PartialNode" and not _checks_an_array(node):
                unsafe.add(PARTIAL)
    return unsafe


def with_new_names(data: bytes) -> bytes:
    """Return a skops file whose classes of ours have the names they have now."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        root = json.loads(bounds.read_member(archive, "schema.json"))
        changed = [node for node in _nodes(root) if _renamed(node)]
        if not changed:
            return data
        target = BytesIO()
        with zipfile.ZipFile(target, "w") as rewritten:
            for member in archive.namelist():
                is_schema = member == "schema.json"
                rewritten.writestr(member, json.dumps(root) if is_schema else archive.read(member))
        return target.getvalue()


def _renamed(node: Node) -> bool:
    """Give a node the name its class has now; return whether that is another."""
    name = str(node.get("__class__"))
    name = RENAMED.get(name, name)
    for module in new_names(str(node.get("__module__"))):
        if f"{module}.{name}" in OWN:
            node["__module__"], node["__class__"] = module, name
            return True
    return False


def _nodes(root: Any) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _full_name(node: Node) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _checks_an_array(node: Node) -> bool:
    """Return whether a partial is `check_array` with values and types for options."""
    function, args, options = (node["content"][part] for part in ("func", "args", "kwds"))
    return (
        function["__loader__"] == FUNCTION
        and _full_name(function) == CHECK_ARRAY
        and args["content"] == []
        and all(value["__loader__"] in OPTIONS for value in options["content"].values())
        and node["content"]["namespace"].get("content") in ({}, "null", None)
    )
