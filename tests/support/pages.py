"""What a report holds, as its readers read it."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page holds, as a browser would read it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: list[str] = []
        self._caption: str | None = None
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            self.tables[self._caption or ""] = self._rows
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        self.texts.append(data)
        if "caption" in self._open:
            self._caption = (self._caption or "") + data
        elif self._rows and self._rows[-1] and {"td", "th"} & set(self._open):
            self._rows[-1][-1] += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """Tables by the caption above them, unescaped."""
    tables: dict[str, list[list[str]]] = {}
    caption = ""
    for line in text.splitlines():
        if line.startswith("|"):
            if set(line) <= set("|- "):
                continue
            cells = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
            tables.setdefault(caption, []).append([plain(cell) for cell in cells])
        elif line.endswith(":"):
            caption = plain(line.removesuffix(":"))
    return tables


def plain(cell: str) -> str:
    return re.sub(r"\\(.)", r"\1", cell)
