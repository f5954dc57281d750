"""Which way a model errs: confident errors by the class that it predicts.

An error of a two-class model has a side: a row of the second class that is called the first, or
the other way round. Figures over both hide that there may be only one. With more classes there is
a side for each pair: which class is mistaken for which.
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
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import framed, records, scalar
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.runtime.words import amount, budget_words, percent, rate
from falcon_discover.settings import PAPER
from falcon_discover.signals.state import State

# A class is hardly ever predicted confidently where it has less than this share of the confident
# predictions.
HARDLY = 0.01
# What rows are instead, where there is more than one other class.
ANOTHER = "another class"
# What share a side is of: the other class, or all others.
OF_CLASS = {False: "of that class", True: "of all others"}
# As many lines as can be read at a glance.
MOST_CLASSES = 10
MOST_PAIRS = 5
# A class with less than this share of the rows is a rare one.
RARE = 0.2

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False, repr=False)
class Sides(Result):
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
    mistaken : one row per pair of classes with a confident error, most errors first: `predicted`,
        `actual`; `events`, rows of the class `actual` that are confidently called `predicted`;
        `of_events`, the share of all confident errors; `class_rows` and `of_class` as above
    """

    table: pd.DataFrame
    captures: pd.DataFrame
    mistaken: pd.DataFrame

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
        events, design = _events(state, codes, tau), state.design
        ranking = Ranking.of(score)

        def captured(hits: BoolArray) -> Iterator[Captured]:
            if design is None:
                return captures(ranking.found(hits), budgets)
            return drawn_captures(hits, WeightedRanking.of(score, design.weight), design, budgets)

        found = [
            {"predicted": predicted, **line._asdict()}
            for code, predicted in enumerate(table["predicted"])
            for line in captured(events & (state.decision == code))
        ]
        mistaken = mistaken_classes(state, codes, classes, tau)
        return cls(table, framed(found), mistaken)

    NEXT = "where one class is wrong too often, ask for more: FalconDiscover(tau={{class: 0.95}})."

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "classes": records(self.table),
            "captures": records(self.captures),
            "mistaken": records(self.mistaken),
        }

    def headline(self) -> str:
        """Return what the table shows."""
        return "Confident predictions by predicted class, and how many were wrong."

    def text(self) -> str:
        """Return a line for each class; of more than two, also which is mistaken for which."""
        if len(self.table) == 2:
            return self._lines(self.table)
        # The classes with most confident errors; the frame has them all.
        shown = self.table.sort_values("events", ascending=False, kind="stable").head(MOST_CLASSES)
        rest = len(self.table) - len(shown)
        return "\n\n".join(
            [
                self._lines(self.table.loc[sorted(shown.index)])
                + (f"\n... and {rest} more classes with fewer confident errors" if rest else ""),
                _mistaken_words(self.mistaken),
            ]
        )

    def _lines(self, table: pd.DataFrame) -> str:
        lines = {}
        for side in table.to_dict("records"):
            found = self.captures[self.captures["predicted"] == side["predicted"]]
            low, high, errs = side["low"], side["high"], side["events"]
            was = f", was {label_repr(side['actual'])}" if len(self.table) == 2 else ""
            name = f"predicted {label_repr(side['predicted'])}{was}"
            lines[name] = {
                "confident": amount(side["eligible"]),
                "wrong": amount(errs),
                "rate": rate(side["rate"]) if side["eligible"] else "",
                "95% interval": f"[{low:.4f}, {high:.4f}]" if side["eligible"] else "",
                OF_CLASS[len(self.table) > 2]: rate(side["of_class"]) if side["class_rows"] else "",
                **{
                    f"top {budget_words(line.budget)}": amount(line.captured) if errs else ""
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


def mistaken_classes(
    state: State, codes: Codes, classes: Sequence[Any] | npt.NDArray[Any], tau: Tau
) -> pd.DataFrame:
    """Return which class is mistaken for which, confidently; see `Sides.mistaken`.

    Examples
    --------
    >>> state = State.from_scores(np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9], [0.9, 0.0, 0.1]]))
    >>> table = mistaken_classes(state, np.array([0, 1, 2], np.int8), ["a", "b", "c"], tau=0.9)
    >>> table[["predicted", "actual", "events"]].values.tolist()
    [['a', 'c', 1], ['c', 'b', 1]]
    """
    events, weight = state.events(codes, tau), state.weight
    # What the rows stand for; each for itself where they have no weights.
    each = np.ones(len(codes), dtype=np.intp) if weight is None else weight
    counts = np.zeros((len(classes), len(classes)), dtype=each.dtype)
    np.add.at(counts, (state.decision[events], codes[events]), each[events])
    rows = np.bincount(codes, weight, minlength=len(classes))
    pairs = [
        {
            "predicted": plain_label(classes[called]),
            "actual": plain_label(classes[actual]),
            "events": counts[called, actual].item(),
            "of_events": float(counts[called, actual] / counts.sum()),
            "class_rows": rows[actual].item(),
            "of_class": float(counts[called, actual] / rows[actual]),
        }
        for called, actual in np.argwhere(counts)
    ]
    names = ["predicted", "actual", "events", "of_events", "class_rows", "of_class"]
    table = pd.DataFrame(pairs, columns=names)
    return table.sort_values("events", ascending=False, kind="stable", ignore_index=True)


def _mistaken_words(mistaken: pd.DataFrame) -> str:
    """Return the pairs of classes with most confident errors."""
    if mistaken.empty:
        return "No class is confidently mistaken for another."
    parts = [
        f"{label_repr(pair['actual'])} for {label_repr(pair['predicted'])} "
        + ("once" if pair["events"] == 1 else f"{amount(pair['events'])} times")
        for pair in mistaken.head(MOST_PAIRS).to_dict("records")
    ]
    rest = len(mistaken) - len(parts)
    more = f", and {rest} more pairs of classes" if rest > 1 else ", and one more pair" * rest
    return f"Most often mistaken with confidence: {', '.join(parts)}{more}."


def notice(table: pd.DataFrame) -> str:
    """Return a sentence or two where all confident errors are of one side, or "".

    That is where there is a confident error, none is of the other side, and the class of that side
    is hardly ever predicted confidently. It is usual for a rare class, and no fault of the scores.

    Examples
    --------
    >>> state = State.from_scores(np.array([0.02, 0.04, 0.05, 0.7]))
    >>> codes = np.array([0, 0, 1, 1], np.int8)
    >>> notice(by_predicted_class(state, codes, ["no", "yes"], tau=0.9))[:76]
    "The one confident error is a row of class 'yes' that the model calls 'no' (5"
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
        f"{head} ({rate(errs['of_class'])} of all {amount(errs['class_rows'])} rows of that class);"
    ]
    words.append(_never(other, missed, confident))
    share = errs["class_rows"] / (other["rows"] + errs["rows"])
    if share < RARE:
        words.append(
            f"At a decision threshold of {PAPER.decision_threshold:g} this is usual for a rare "
            f"class ({missed}: {rate(share)} of the rows)."
        )
    words.append(
        f"So these figures are about missed {missed} rows, not about rows wrongly called "
        f"{missed}: {_advice(other, missed)} If missing {missed} is costly, lower the decision "
        "threshold for it."
    )
    return " ".join(words)


def _never(other: dict[str, Any], missed: str, confident: float) -> str:
    """Return how rarely the other class is predicted confidently."""
    if not other["rows"]:
        return f"it never calls a row {missed}."
    if not other["eligible"]:
        return f"it never calls a row {missed} with at least {percent(other['tau'])} confidence."
    return (
        f"of its {amount(confident)} confident predictions only {amount(other['eligible'])} "
        f"{'is' if other['eligible'] == 1 else 'are'} {missed}, all of them right."
    )


def _advice(other: dict[str, Any], missed: str) -> str:
    """Return what to do to see the other side too."""
    if not other["rows"]:
        return f"there are none to audit until the model calls a row {missed}."
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
