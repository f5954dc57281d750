"""Pages made from the package itself: the command line, the glossary, the rankers."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer

from falcon_discover import rankers
from falcon_discover.cli import app
from falcon_discover.runtime.glossary import GLOSSARY
from figures.common import table

PROGRAM = "falcon-discover"


def commands_text() -> str:
    """Return every command with its help, options and defaults."""
    root = typer.main.get_command(app)
    return "\n\n".join(_command(command, [PROGRAM, name]) for name, command in _children(root))


def _children(group: Any) -> list[tuple[str, Any]]:
    return [(name, command) for name, command in group.commands.items() if not command.hidden]


def _command(command: Any, path: list[str]) -> str:
    heading = f"{'#' * len(path)} `{' '.join(path[1:])}`"
    (first, *more), examples = _said("\n\n".join(filter(None, (command.help, command.epilog))))
    if hasattr(command, "commands"):
        children = [_command(child, [*path, name]) for name, child in _children(command)]
        return "\n\n".join([heading, first, *more, *examples, *children])
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    options = [p for p in command.params if p.opts[0].startswith("-") and not p.hidden]
    usage = f"```text\n{_usage(path, arguments, options)}\n```"
    parts = [heading, first, usage, *more, *examples]
    if arguments:
        rows = [[f"`{_metavar(p)}`", _cell(p.help)] for p in arguments]
        parts.append(table(["argument", "what it is"], rows))
    for panel in dict.fromkeys(p.rich_help_panel for p in options):
        rows = [
            [_names(p), _default(p), _cell(p.help)] for p in options if p.rich_help_panel == panel
        ]
        if panel:
            parts.append(f"**{panel}**")
        parts.append(table(["option", "default", "what it does"], rows))
    return "\n\n".join(parts)


def _said(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a help text, and the calls of the program in it as one block."""
    text = inspect.cleandoc(text.replace("\b", "")).partition("\f")[0]
    called = re.compile(rf"^\s*(?:\w+: )?({PROGRAM} .*)$", re.MULTILINE)
    calls = called.findall(text)
    rest = re.sub(r"^Examples?:\s*$", "", called.sub("", text), flags=re.MULTILINE)
    paragraphs = [_cell(" ".join(part.split())) for part in re.split(r"\n\s*\n", rest.strip())]
    title = "Example:" if len(calls) == 1 else "Examples:"
    return paragraphs, [title, "```sh\n" + "\n".join(calls) + "\n```"] if calls else []


def _usage(path: list[str], arguments: list[Any], options: list[Any]) -> str:
    words = [*path, *(_metavar(p) for p in arguments)]
    words += [f"{p.opts[0]} {_metavar(p)}" for p in options if p.required]
    return " ".join([*words, "[OPTIONS]"])


def _metavar(parameter: Any) -> str:
    name = (parameter.metavar or parameter.name).strip("[]{}.").upper()
    return f"{name}..." if getattr(parameter, "nargs", 1) == -1 else name


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])


def _default(option: Any) -> str:
    if option.required:
        return "required"
    value = option.default
    if value is False and not option.secondary_opts:
        return "off"
    if value is None or value == []:
        return ""
    return f"`{value}`"


def _cell(text: str | None) -> str:
    """Return a help text for a table, options and commands as code."""
    text = re.sub(r"\[/?\w+[ \w]*\]", "", text or "")
    quoted = r"'(?P<quoted>[a-z]+(?: --[\w-]+)?)'"
    option = r"(?<![\w`-])(?P<option>--[a-z][\w-]*)"
    code = re.sub(f"{quoted}|{option}", lambda m: f"`{m['quoted'] or m['option']}`", text)
    return code.replace("|", r"\|")


def glossary_table() -> str:
    """Return every term with its meaning, in the order of the alphabet."""
    terms = sorted(GLOSSARY, key=str.lower)
    return table(["term", "meaning"], [[f"**{term}**", GLOSSARY[term]] for term in terms])


def ranker_names() -> str:
    """Return every ranker by name, with what it does and what it needs."""
    rows = []
    for name in rankers.RANKERS:
        ranker = rankers.make(name)
        first = (inspect.getdoc(type(ranker)) or "").partition("\n\n")[0]
        first = re.sub(r" \(eq:.*?\)", "", first)  # names in the paper's source
        rows.append([f"`{name}`", f"`{ranker!r}`", " ".join(first.split())])
    return table(["name", "the same as", "what it does"], rows)


TABLES = {"commands": commands_text, "glossary": glossary_table, "rankers": ranker_names}
