"""How results show themselves: in a terminal, in a notebook, as a frame and as a dict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pandas as pd

# A notebook shows so many rows of a table; `frame()` has them all.
MOST_ROWS = 20
# No colours: a page may be light or dark.
STYLE = "text-align: left; vertical-align: top; white-space: normal; max-width: 40em"


class Result(ABC):
    """What a question to an audit returns.

    A subclass says what was found (`text`), gives the figures (`to_dict`, and `frame` where
    they are a table) and says what to do next (`NEXT`, which may name its attributes).
    """

    NEXT: ClassVar[str]

    @abstractmethod
    def text(self) -> str:
        """Return what was found, in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""

    def frame(self) -> pd.DataFrame:
        """Return the figures as a table of one row."""
        import pandas as pd

        figures = self.to_dict().items()
        return pd.DataFrame([{k: v for k, v in figures if not isinstance(v, dict | list)}])

    def next_step(self) -> str:
        """Return what to do next, in a sentence."""
        return self.NEXT.format(self=self)

    def headline(self) -> str:
        """Return the finding without its tables."""
        first, *rest = self.text().split("\n\n")
        return "\n".join([first, *(part for part in rest if "\n" not in part)])

    def shown(self) -> pd.DataFrame:
        """Return the table that a notebook shows: of several thresholds, the main one's."""
        frame = self.frame()
        if "tau" in frame and hasattr(self, "tau"):
            return frame[frame["tau"] == self.tau]
        return frame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables that a notebook shows, by their titles; one alone needs none."""
        return {"": self.shown()}

    def __repr__(self) -> str:
        return f"{self.text()}\n\nNext: {self.next_step()}"

    def __format__(self, spec: str) -> str:
        # Within a longer text, which has a next step of its own.
        return format(self.text(), spec)

    def _repr_html_(self) -> str:
        return html_of(self.headline(), self.tables(), self.next_step())


def html_of(words: str, tables: Mapping[str, pd.DataFrame], next_step: str) -> str:
    """Return words, the first rows of titled tables and the next step for a notebook; all escaped.

    Examples
    --------
    >>> import pandas as pd
    >>> page = html_of("2 < 3.", {"": pd.DataFrame({"a<b": [0.25]})}, "review()")
    >>> "<p>2 &lt; 3.</p>" in page, "a&lt;b" in page, "<p><b>Next:</b> review()</p>" in page
    (True, True, True)
    """
    parts = [f"<p>{escape(part)}</p>" for part in words.split("\n") if part]
    for title, frame in tables.items():
        if not len(frame.columns):
            continue
        parts += [f"<p>{escape(title)}</p>"] if title else []
        parts.append(_table(frame.head(MOST_ROWS)))
        if len(frame) > MOST_ROWS:
            parts.append(f"<p>The first {MOST_ROWS} of {len(frame):,} rows.</p>")
    return f"<div>{''.join(parts)}<p><b>Next:</b> {escape(next_step)}</p></div>"


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f'<th style="{STYLE}">{escape(str(name))}</th>' for name in frame.columns)
    lines = (
        "".join(f'<td style="{STYLE}">{escape(cell(value))}</td>' for value in line)
        for line in frame.itertuples(index=False)
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cell(value: Any) -> str:
    """Return a value as a table shows it.

    Examples
    --------
    >>> cell(0.02134), cell(1204.0), cell(float("nan")), cell("yes"), cell(None)
    ('0.02134', '1,204', '', 'yes', '')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
    return f"{value:,}" if type(value) is int else str(value)
