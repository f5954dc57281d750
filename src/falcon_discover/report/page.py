"""What a report says, section by section; HTML and Markdown render the same sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from falcon_discover.report.labels import CAPTIONS, FACTS, TILES, TITLES

Summary = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """A table of words and numbers, as shown; `key` tells it from the others."""

    caption: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    key: str = ""

    @classmethod
    def of(cls, caption: str, columns: Mapping[str, Sequence[str]], key: str = "") -> Grid:
        """Return a table from its columns."""
        return cls(caption, tuple(columns), list(zip(*columns.values(), strict=True)), key)

    @classmethod
    def named(cls, key: str, columns: Mapping[str, Sequence[str]], **figures: Any) -> Grid:
        """Return a table from its columns, with the caption that goes by its key."""
        return cls.of(CAPTIONS[key].format(**figures), columns, key)


@dataclass(frozen=True)
class Figure:
    """A chart with its text alternative and its numbers."""

    key: str
    title: str
    words: str
    svg: Markup
    grid: Grid


@dataclass(frozen=True)
class Bar:
    """A region: its number, name, words in full, figures in words, and its bar; 0 is all rows."""

    name: str
    words: str
    figures: str
    svg: Markup
    number: int = 0


@dataclass(frozen=True)
class Section:
    """A part of the report; `short` is its title as a link.

    It has paragraphs (`lead`), regions with their `bars`, charts (`figures`), tables without one
    (`grids`) and a list of remarks (`points`).
    """

    key: str
    title: str
    short: str
    lead: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    points: list[str] = field(default_factory=list)

    @classmethod
    def named(cls, key: str, lead: list[str], title: str = "", **parts: Any) -> Section:
        """Return a section with the titles that go by its key, or by that of another."""
        return cls(key, *TITLES[title or key], lead, **parts)


@dataclass(frozen=True)
class Tile:
    """A headline figure; `key` says which."""

    value: str
    words: str
    key: str = ""

    @classmethod
    def named(cls, key: str, value: str, **figures: Any) -> Tile:
        """Return a figure with the words that go by its key."""
        return cls(value, TILES[key].format(**figures), key)


@dataclass(frozen=True)
class Fact:
    """Something about what was audited."""

    key: str
    value: str

    @property
    def name(self) -> str:
        """What it is called."""
        return FACTS[self.key]


def lines(statement: str) -> list[str]:
    r"""Return a statement's lines as paragraphs.

    Examples
    --------
    >>> lines("One.\nTwo.")
    ['One.', 'Two.']
    """
    return [line for line in statement.split("\n") if line]


def thinned(records: Sequence[dict[str, Any]], at_most: int = 24) -> list[dict[str, Any]]:
    """Return every so many-th record, the last included, for a table that can be read."""
    every = -(-len(records) // at_most)
    return [r for i, r in enumerate(records) if i % every == 0 or i == len(records) - 1]


def column(records: Iterable[dict[str, Any]], words: Any, *keys: str) -> list[str]:
    """Return a column of a table: the words of one or more fields of each record."""
    return [words(*(record[key] for key in keys)) for record in records]
