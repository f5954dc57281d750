"""How the API reference reads docstrings and defaults; mkdocs.yml names this extension.

Docstrings here write `name : what it is` on one line and leave types to the signature. numpydoc
takes what follows the colon for the type, so the text is handed on as the description. And a
default such as `PAPER.tau` is shown as its value, 0.9.
"""

from __future__ import annotations

import re
from importlib import import_module
from operator import attrgetter
from typing import Any

from griffe import Class, Extension, Function

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ITEM = re.compile(
    r"^(?P<name>[^\s:][^:\n]*?) : (?P<first>.*)(?P<rest>(?:\n(?: +.*)?)*)", re.MULTILINE
)
CONSTANT = re.compile(r"[A-Z][A-Z_]+(\.\w+)?")
NAMED = ("Parameters", "Attributes", "Warns", "Raises")


def described(item: re.Match[str]) -> str:
    """Return an item with its text as the description, unless it has a type and a description."""
    rest = item["rest"].strip()
    if rest and (rest[0].isupper() or not rest[0].isalpha()):
        return item[0]
    lines = [item["first"], *(line.strip() for line in rest.splitlines())]
    return f"{item['name']}\n    {sentence(' '.join(lines))}\n"


def sentence(text: str) -> str:
    """Return a description as a sentence."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def numpydoc(text: str, returned: str | None = None) -> str:
    """Return a docstring in the form that numpydoc parsers expect."""
    # Names of equations in the paper's source are for those who read the code.
    parts = SECTION.split(re.sub(r"\s*\(eq:.*?\)", "", text))
    out = [parts[0]]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in NAMED:
            body = ITEM.sub(described, body)
        elif title == "Returns" and returned is not None:
            body = f"{returned}\n    {sentence(' '.join(body.split()))}\n\n"
        out.append(f"{title}\n{'-' * len(title)}\n{body}")
    return "".join(out).rstrip()


class HouseStyle(Extension):
    """Docstrings and defaults as readers of the reference need them."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Show the value of each default, and what each parameter is."""
        for parameter in func.parameters:
            default = str(parameter.default)
            if CONSTANT.fullmatch(default):
                module = import_module(func.module.path)
                parameter.default = repr(attrgetter(default)(module))
        if func.docstring is not None:
            returned = None if func.returns is None else str(func.returns)
            func.docstring.value = numpydoc(func.docstring.value, returned)

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """Show what each parameter and attribute is."""
        if cls.docstring is not None:
            cls.docstring.value = numpydoc(cls.docstring.value)
