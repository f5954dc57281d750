"""What a skops file asks for, looked at before any object is made."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Set
from io import BytesIO
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.moved import RENAMED, new_names
from falcon_discover.storage import bounds
from falcon_discover.storage.known import CHECK_ARRAY, FUNCTION, OWN, PARTIAL, ROLES

Node = dict[str, Any]
ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}
OPTIONS = ("JsonNode", "ListNode", "TypeNode")


def check(text: bytes, trusted: Set[str], name: str) -> set[str]:
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
