"""A report as files: an offline HTML page, Markdown, and JSON with the review list.

Page and Markdown are made by templates that are files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from falcon_discover import rankers
from falcon_discover.audit.finding import Finding
from falcon_discover.data.files import write_results
from falcon_discover.exceptions import InputError
from falcon_discover.report.build import About, Report
from falcon_discover.report.labels import PAGE as PAGE_WORDS
from falcon_discover.report.sections import facts, next_steps, sections, tiles, title, verdict
from falcon_discover.report.sections.headline import created
from falcon_discover.report.terms import Terms
from falcon_discover.report.text import say
from falcon_discover.runtime.atomic import write_text
from falcon_discover.runtime.records import json_text

# Characters that Markdown or a browser showing it would take for markup.
_MARKDOWN = re.compile(r"([\\`*\[\]<|~])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def html(report: Report) -> str:
    """Return the page: one file with everything in it, which asks nothing of any network."""
    style, script = asset("style.css"), asset("panel.js") + asset("script.js")
    return _rendered(
        report,
        "report.html.j2",
        autoescape=True,
        rows=embedded({"key": report.key, "words": PAGE_WORDS, **report.rows}),
        style=Markup(style),
        script=Markup(script),
        # Only this very script may run, even if a value found its way into the page as markup.
        script_hash=_hash(script),
    )


def markdown(report: Report) -> str:
    """Return the same sections as Markdown."""
    return _rendered(report, "report.md.j2", autoescape=False)


def _rendered(report: Report, template: str, *, autoescape: bool, **more: str) -> str:
    return (
        environment(autoescape=autoescape)
        .get_template(template)
        .render(
            summary=report.summary,
            name=title(report.summary),
            facts=facts(report.summary),
            verdict=verdict(report.summary),
            steps=next_steps(report.summary),
            tiles=tiles(report.summary),
            sections=sections(report.summary),
            terms=Terms(),
            footer=_footer(report.summary),
            **more,
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


def _footer(summary: dict[str, Any]) -> str:
    return say("footer", version=summary["versions"]["falcon-discover"], created=created(summary))


@cache
def environment(*, autoescape: bool) -> Environment:
    """Return what renders templates."""
    environment = Environment(
        loader=PackageLoader("falcon_discover.report"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = escaped_markdown
    return environment


@cache
def asset(name: str) -> str:
    """Return a file that pages hold."""
    return files("falcon_discover.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


PAGE, TEXT = "report.html", "report.md"
WRITERS: dict[str, Callable[[Report], str]] = {
    ".html": html,
    ".md": markdown,
    ".json": lambda report: json_text(report.summary),
}


def write_folder(report: Report, folder: Path) -> list[Path]:
    """Write the page, Markdown, the summary and the review list into a folder."""
    texts = {PAGE: html(report), TEXT: markdown(report)}
    return write_results(folder, report.review, report.summary, texts)


def check_target(path: Path) -> None:
    """Raise if a report cannot be written as what the path's ending names."""
    if path.suffix and path.suffix not in WRITERS and not path.is_dir():
        raise InputError(
            f"{path} has the ending {path.suffix!r}: a report is written to a folder, or to a "
            f"file ending in {', '.join(WRITERS)}."
        )


def write_report(finding: Finding, path: Path, *, how: dict[str, Any] | None, **about: Any) -> Path:
    """Write what was found to a folder or a file; `Finding.report` says what may be asked for."""
    check_target(path)
    rows = "the rows of the fit" if finding.is_fit_rows else "new rows"
    settings = {"ranker": rankers.name_of(finding.audit.spec)}
    return write(
        Report.of(finding, About(how={"rows": rows, **(how or {})}, settings=settings, **about)),
        path,
    )


def write(report: Report, path: Path) -> Path:
    """Write a report to a folder, or a file ending in .html, .md or .json; return where it is."""
    check_target(path)
    if path.suffix in WRITERS and not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_text(path, WRITERS[path.suffix](report))
    write_folder(report, path)
    return path / PAGE
