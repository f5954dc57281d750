"""One summary, three renderings: an offline HTML page, Markdown and JSON."""

from falcon_discover.report.build import About, Report
from falcon_discover.report.write import html, markdown

__all__ = ["About", "Report", "html", "markdown"]
