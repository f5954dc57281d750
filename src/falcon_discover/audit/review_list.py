"""The review list as a frame that shows its reasons in full."""

from __future__ import annotations

import shutil
from textwrap import fill

import pandas as pd

from falcon_discover.runtime.display import html_of

NEXT_STEP = (
    "check these predictions; finding.report(path) writes them as a page on which you can mark "
    "each one right or wrong."
)
# A terminal shows so many rows: with their reasons, about a screen.
MOST_ROWS = 10
# Told below each row, however long, with what stands before it.
LONG = {"region": "region: ", "reason": ""}
INDENT = "    "


class ReviewList(pd.DataFrame):
    """The predictions to review, riskiest first; a pandas frame that prints whole reasons.

    What pandas makes of it, such as a part of its rows, is a review list too; without the column
    `reason` it prints as any frame does.

    Examples
    --------
    >>> ReviewList({"row": [7], "predicted": ["no"], "region": [""], "reason": ["93% sure"]})
       row predicted
    0    7        no
        93% sure
    <BLANKLINE>
    Next: check these predictions; finding.report(path) writes them as a page on which you can mark
    each one right or wrong.
    """

    @property
    def _constructor(self) -> type[ReviewList]:
        return ReviewList

    @property
    def _labelled(self) -> bool:
        """Whether the index says more than the positions of the rows do."""
        return "row" not in self.columns or not bool((self.index == self["row"]).all())

    def frame(self) -> pd.DataFrame:
        """Return a plain pandas frame."""
        return pd.DataFrame(self).copy()

    def next_step(self) -> str:
        """Return what to do next, in a sentence."""
        return NEXT_STEP

    def __repr__(self) -> str:
        if "reason" not in self.columns:
            return str(super().__repr__())
        if not len(self):
            return "No prediction to review."
        shown = self.frame().head(MOST_ROWS)
        width = max(60, min(100, shutil.get_terminal_size().columns))
        told = [name for name in LONG if name in shown]
        short = shown.drop(columns=told)
        lines = short.to_string(index=self._labelled, float_format="{:.4f}".format).split("\n")
        parts = lines[: -len(shown)]
        for line, words in zip(
            lines[-len(shown) :], shown[told].itertuples(index=False), strict=True
        ):
            known = {name: text for name, text in zip(told, words, strict=True) if text}
            parts += [line, *(_indented(f"{LONG[k]}{text}", width) for k, text in known.items())]
        left = len(self) - len(shown)
        rest = [f"... and {left:,} more"] if left else []
        return "\n".join([*parts, *rest, "", fill(f"Next: {NEXT_STEP}", width)])

    def _repr_html_(self) -> str:
        if "reason" not in self.columns:
            return str(super()._repr_html_())
        words = f"{len(self):,} predictions to review, riskiest first."
        shown = self.frame()
        if self._labelled:
            shown.insert(0, shown.index.name or "index", shown.index, allow_duplicates=True)
        return html_of(words, {"": shown}, NEXT_STEP)


def _indented(text: str, width: int) -> str:
    return fill(text, width, initial_indent=INDENT, subsequent_indent=INDENT)
