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
    first, _, more = _help(command.help or "").partition("\n\n")
    if hasattr(command, "commands"):
        children = [_command(child, [*path, name]) for name, child in _children(command)]
        return "\n\n".join(filter(None, [heading, first, more, *children]))
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    options = [p for p in command.params if p.opts[0].startswith("-") and not p.hidden]
    parts = [heading, first, f"```text\n{_usage(path, arguments, options)}\n```"]
    parts += [more] if more else []
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


def _help(text: str) -> str:
    """Return a command's help as Markdown; lines that call the program are code."""
    text = inspect.cleandoc(text.replace("\b", "")).partition("\f")[0]
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines()]
        called = [line for line in lines if PROGRAM in line]
        if called and all(re.match(rf"(\w+: )?(\$ )?{PROGRAM} ", line) for line in called):
            words = " ".join(line for line in lines if line not in called)
            code = "\n".join(line[line.index(PROGRAM) :] for line in called)
            paragraphs += [_cell(words) or "Example:", f"```sh\n{code}\n```"]
        else:
            paragraphs.append(_cell(" ".join(lines)))
    return "\n\n".join(filter(None, paragraphs))


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
    """Return a help text for a table, option names as code."""
    text = re.sub(r"\[/?\w+[ \w]*\]", "", text or "")
    return re.sub(r"(?<![\w`-])(--[a-z][\w-]*)", r"`\1`", text).replace("|", r"\|")


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
