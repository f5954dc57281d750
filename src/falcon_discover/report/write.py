"""A report as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from falcon_discover import rankers
from falcon_discover.audit.finding import Finding
from falcon_discover.data.files import write_results
from falcon_discover.exceptions import InputError
from falcon_discover.report.build import About, Report
from falcon_discover.report.render import html, markdown
from falcon_discover.runtime.atomic import write_text
from falcon_discover.runtime.records import json_text

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
    """Write a report and return where it is.

    Parameters
    ----------
    path : a folder for all files, or one file ending in .html, .md or .json
    """
    check_target(path)
    if path.suffix in WRITERS and not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_text(path, WRITERS[path.suffix](report))
    write_folder(report, path)
    return path / PAGE
