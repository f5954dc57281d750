"""The summary as an offline HTML page and as Markdown, by templates that are files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from falcon_discover.report.build import Report
from falcon_discover.report.sections import score_words, sections, tiles
from falcon_discover.runtime.format import text

# Characters that Markdown or a browser showing it would take for markup.
_MARKDOWN = re.compile(r"([\\`*\[\]<|~])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def html(report: Report) -> str:
    """Return the page: one file with everything in it, which asks nothing of any network."""
    style, script = _asset("style.css"), _asset("script.js")
    return (
        _environment(autoescape=True)
        .get_template("report.html.j2")
        .render(
            summary=report.summary,
            name=text(report.summary["data"]["name"]),
            tiles=tiles(report.summary),
            score=text(score_words(report.summary["data"])),
            sections=sections(report.summary),
            rows=embedded({"key": report.key, **report.rows}),
            style=Markup(style),
            script=Markup(script),
            # Only this very script may run, even if a value found its way into the page as markup.
            script_hash=_hash(script),
        )
    )


def markdown(report: Report) -> str:
    """Return the same sections as Markdown."""
    return (
        _environment(autoescape=False)
        .get_template("report.md.j2")
        .render(
            summary=report.summary,
            name=text(report.summary["data"]["name"]),
            tiles=tiles(report.summary),
            score=text(score_words(report.summary["data"])),
            sections=sections(report.summary),
        )
    )


def embedded(data: Any) -> Markup:
    r"""Return data as JSON that cannot end the script element it stands in.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    Markup('{"name":"\\u003c/script\\u003e"}')
    """
    words = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        words = words.replace(character, f"\\u{ord(character):04x}")
    return Markup(words)


def escaped_markdown(value: object) -> str:
    r"""Return a value that Markdown shows as it is, on one line.

    Examples
    --------
    >>> escaped_markdown("<b> a|b *c* snake_case")
    '\\<b> a\\|b \\*c\\* snake_case'
    """
    return _MARKDOWN.sub(lambda found: f"\\{found.group(0)}", " ".join(str(value).split()))


def tied(words: str) -> str:
    """Return a text in which a percent sign stays on the line of its number.

    Examples
    --------
    >>> tied("at least 90 % sure") == "at least 90\N{NO-BREAK SPACE}% sure"
    True
    """
    return words.replace(" %", "\N{NO-BREAK SPACE}%")


@cache
def _environment(*, autoescape: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("falcon_discover.report"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escaped_markdown
    environment.filters["tied"] = tied
    return environment


@cache
def _asset(name: str) -> str:
    return files("falcon_discover.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
