"""Which way a model errs: confident errors by the class that it predicts.

An error of a two-class model has a side: a row of the second class that is called the first, or
the other way round. Figures over both hide that there may be only one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.labels import label_repr
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import counted, rate_interval
from falcon_discover.metrics.ordering import Ranking
from falcon_discover.metrics.ranking import Captured, captures, drawn_captures
from falcon_discover.metrics.weighted import WeightedRanking
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import amount, percent, rate
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

# A class is hardly ever predicted confidently where it has less than this share of the confident
# predictions.
HARDLY = 0.01
# What rows are instead, where there is more than one other class.
ANOTHER = "another class"
# A class with less than this share of the rows is a rare one.
RARE = 0.2

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Sides:
    """Confident errors by predicted class.

    Attributes
    ----------
    table : one row per predicted class: `tau`; `predicted`; `actual`, the class of a row that is
        wrongly called so; `rows` that are called so; `surest`, the highest confidence among them;
        `eligible`, `events`, and their `rate` with its interval `low` to `high`; `of_events`, the
        share of all confident errors; `class_rows`, rows of the class `actual`; and `of_class`,
        which share of those are such confident errors
    captures : one row per predicted class and budget: how many confident errors of each side a
        review of all rows by the evaluated ranker finds
    """

    table: pd.DataFrame
    captures: pd.DataFrame

    @classmethod
    def of(
        cls,
        state: State,
        codes: Codes,
        score: FloatArray,
        *,
        classes: Sequence[Any] | npt.NDArray[Any],
        tau: Tau,
        budgets: Sequence[float],
    ) -> Sides:
        """Return the sides of labelled rows and what a ranking by suspicion finds of each."""
        table = by_predicted_class(state, codes, classes, tau)
        return cls(table, _captures(state, codes, score, table, tau, budgets))

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def __repr__(self) -> str:
        lines = {}
        for side in self.table.to_dict("records"):
            found = self.captures[self.captures["predicted"] == side["predicted"]]
            low, high, errs = side["low"], side["high"], side["events"]
            name = f"predicted {label_repr(side['predicted'])}, was {label_repr(side['actual'])}"
            lines[name] = {
                "confident": amount(side["eligible"]),
                "wrong": amount(errs),
                "rate": rate(side["rate"]) if side["eligible"] else "",
                "95% interval": f"[{low:.4f}, {high:.4f}]" if side["eligible"] else "",
                "of that class": rate(side["of_class"]) if side["class_rows"] else "",
                **{
                    f"top {percent(line.budget)}": amount(line.captured) if errs else ""
                    for line in found.itertuples()
                },
            }
        return pd.DataFrame.from_dict(lines, orient="index").to_string()


def by_predicted_class(
    state: State, codes: Codes, classes: Sequence[Any] | npt.NDArray[Any], tau: Tau
) -> pd.DataFrame:
    """Return the figures of each predicted class; see `Sides.table`.

    Examples
    --------
    >>> state = State.from_scores(np.array([0.02, 0.04, 0.05, 0.7]))
    >>> table = by_predicted_class(state, np.array([0, 0, 1, 1], np.int8), ["no", "yes"], tau=0.9)
    >>> table[["predicted", "actual", "eligible", "events", "of_class"]].to_dict("records")[0]
    {'predicted': 'no', 'actual': 'yes', 'eligible': 3, 'events': 1, 'of_class': 0.5}
    """
    eligible, design = state.eligible(tau), state.design
    events = _events(state, codes, tau)
    (total,), lines = counted(design, events), []
    for code, label in enumerate(classes):
        called = state.decision == code
        sure, wrong, class_rows, rows = counted(
            design, eligible & called, events & called, codes != code, called
        )
        low, high = rate_interval(design, events, eligible & called)
        others = ANOTHER if len(classes) > 2 else plain_label(classes[1 - code])
        lines.append(
            {
                "tau": tau[code] if isinstance(tau, tuple) else tau,
                "predicted": plain_label(label),
                "actual": others,
                "rows": rows,
                "surest": float(state.confidence[called].max()) if called.any() else math.nan,
                "eligible": sure,
                "events": wrong,
                "rate": wrong / sure if sure else math.nan,
                "low": low,
                "high": high,
                "of_events": wrong / total if total else math.nan,
                "class_rows": class_rows,
                "of_class": wrong / class_rows if class_rows else math.nan,
            }
        )
    return pd.DataFrame(lines)


def _captures(
    state: State,
    codes: Codes,
    score: FloatArray,
    table: pd.DataFrame,
    tau: Tau,
    budgets: Sequence[float],
) -> pd.DataFrame:
    events, design = _events(state, codes, tau), state.design

    def found(hits: BoolArray) -> Iterator[Captured]:
        if design is None:
            return captures(Ranking.of(score).found(hits), budgets)
        return drawn_captures(hits, WeightedRanking.of(score, design.weight), design, budgets)

    return pd.DataFrame(
        [
            {"predicted": predicted, **line._asdict()}
            for code, predicted in enumerate(table["predicted"])
            for line in found(events & (state.decision == code))
        ]
    )


def notice(table: pd.DataFrame) -> str:
    """Return what is to be known where all confident errors are of one side, or "".

    That is where there is a confident error, none is of the other side, and the class of that side
    is hardly ever predicted confidently. It is usual for a rare class, and no fault of the scores.

    Parameters
    ----------
    table : as `by_predicted_class` returns it

    Examples
    --------
    >>> state = State.from_scores(np.array([0.02, 0.04, 0.05, 0.7]))
    >>> codes = np.array([0, 0, 1, 1], np.int8)
    >>> notice(by_predicted_class(state, codes, ["no", "yes"], tau=0.9))[:76]
    "The one confident error is a row of class 'yes' that the model calls 'no', 5"
    """
    if len(table) > 2:
        return ""
    sides = sorted(table.to_dict("records"), key=lambda side: side["events"])
    other, errs = sides[0], sides[1]
    confident = other["eligible"] + errs["eligible"]
    if not errs["events"] or other["events"] or other["eligible"] >= HARDLY * confident:
        return ""
    called, missed = label_repr(errs["predicted"]), label_repr(errs["actual"])
    n = errs["events"]
    head = (
        f"The one confident error is a row of class {missed} that the model calls {called}"
        if n == 1
        else f"All {amount(n)} confident errors are rows of class {missed} that the model calls "
        f"{called}"
    )
    words = [
        f"{head}, {rate(errs['of_class'])} of all {amount(errs['class_rows'])} rows of that class;"
    ]
    words.append(_never(other, missed, confident))
    share = errs["class_rows"] / (other["rows"] + errs["rows"])
    if share < RARE:
        words.append(
            f"At a decision threshold of {PAPER.decision_threshold:g} this is usual for a rare "
            f"class ({missed}: {rate(share)} of the rows)."
        )
    words.append(
        f"Figures here are about rows of {missed} that are missed, not about rows that are wrongly "
        f"called {missed}: {_advice(other, missed)} If missing {missed} is costly, decide for it "
        "at a lower threshold."
    )
    return " ".join(words)


def _never(other: dict[str, Any], missed: str, confident: float) -> str:
    """Return how rarely the other class is predicted confidently."""
    if not other["rows"]:
        return f"it calls no row {missed} at all."
    if not other["eligible"]:
        return f"it never calls a row {missed} with at least {percent(other['tau'])} confidence."
    return (
        f"of its {amount(confident)} confident predictions only {amount(other['eligible'])} "
        f"{'is' if other['eligible'] == 1 else 'are'} {missed}, and rightly so."
    )


def _advice(other: dict[str, Any], missed: str) -> str:
    """Return what to do to see the other side too."""
    if not other["rows"]:
        return f"there is none to audit until the model calls a row {missed}."
    if not other["eligible"]:
        highest = math.floor(100 * other["surest"]) / 100
        return f"to audit those too, set tau to {highest:.2f} or less."
    return "to audit more of those too, lower tau."


def plain_label(label: Any) -> int | float | str | bool:
    """Return a label that JSON can carry: numbers and texts as they are.

    Examples
    --------
    >>> plain_label(np.int64(1)), plain_label("yes"), plain_label(None)
    (1, 'yes', 'None')
    """
    value = scalar(label)
    return value if isinstance(value, int | float | str | bool) else label_repr(label)


def _events(state: State, codes: Codes, tau: Tau) -> BoolArray:
    return state.events(codes, tau)
