"""The rate of confident errors by period: whether a model stays reliable over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.data.times import Times
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.design import Design, counted, rate_interval
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import records
from falcon_discover.runtime.types import BoolArray, IntArray
from falcon_discover.runtime.words import amount, level, rate

# Dates are grouped by the shortest of these spans that makes no more periods than can be read.
SPANS = ("h", "D", "W", "M", "Q", "Y")
MOST = 24
# Numbers of many values are cut into so many periods of about equally many rows.
CUTS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Periods(Result):
    """Confident errors by period.

    Attributes
    ----------
    table : one row per period, in order: `period`, its name; `first` and `last` moment in it;
        `rows`, `eligible`, `events`, and the `rate` of events among eligible rows with its
        interval `low` to `high`; weighted rows count by their weight
    tau : confidence from which a row is eligible

    Examples
    --------
    >>> sure = np.ones(4, dtype=bool)
    >>> wrong = np.array([False, False, True, False])
    >>> Periods.of(np.array([2023.0, 2023, 2024, 2024]), sure, wrong).frame()["rate"].tolist()
    [0.0, 0.5]
    """

    table: pd.DataFrame
    tau: Tau = 0.9

    @classmethod
    def of(
        cls,
        times: Times,
        eligible: BoolArray,
        events: BoolArray,
        tau: Tau = 0.9,
        design: Design | None = None,
    ) -> Periods:
        """Return the figures of each period."""
        codes, names = _grouped(times)
        lines = []
        for number, name in enumerate(names):
            inside = codes == number
            among = inside & eligible
            rows, sure, wrong = counted(design, inside, among, inside & events)
            low, high = rate_interval(design, events, among)
            lines.append(
                {
                    "period": name,
                    "first": _moment(times[inside].min()),
                    "last": _moment(times[inside].max()),
                    "rows": rows,
                    "eligible": sure,
                    "events": wrong,
                    "rate": wrong / sure if sure else math.nan,
                    "low": low,
                    "high": high,
                }
            )
        return cls(pd.DataFrame(lines), tau)

    def frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and words."""
        return {"words": self.words(), "periods": records(self.table)}

    def words(self) -> str:
        """Return how the rate moves, in two sentences."""
        known = self.table[self.table["eligible"] > 0]
        if not len(known):
            return f"No prediction in any period reaches {level(self.tau)} confidence."
        if len(known) == 1:
            only = known.iloc[0]
            return (
                f"Only one period has confident predictions: {only['period']}, with {_of(only)} "
                "wrong."
            )
        first, last, worst = known.iloc[0], known.iloc[-1], known.loc[known["rate"].idxmax()]
        return (
            f"Of the predictions that are at least {level(self.tau)} sure, {_of(first)} were wrong "
            f"in the first period, {first['period']}, and {_of(last)} in the last, "
            f"{last['period']}. The highest rate was {rate(worst['rate'])}, in {worst['period']}. "
            "If the intervals of two periods do not overlap, chance is an unlikely explanation."
        )

    NEXT = "finding.report(path, times=times) draws the periods in the report."

    def text(self) -> str:
        """Return how the rate moves, and the table."""
        shown = self.table[["period"]].assign(
            **{name: self.table[name].map(amount) for name in ("rows", "eligible", "events")},
            rate=["" if math.isnan(r) else rate(r) for r in self.table["rate"]],
            **{
                "95% interval": [
                    "" if math.isnan(r) else f"[{low:.4f}, {high:.4f}]"
                    for r, low, high in self.table[["rate", "low", "high"]].itertuples(index=False)
                ]
            },
        )
        table = shown.rename(columns={"eligible": "confident", "events": "wrong"})
        return (
            f"{self.words()}\n\n{table.to_string(index=False)}\n\n"
            "If the rate rises, audit again on the latest rows."
        )


def _of(line: pd.Series) -> str:
    return f"{amount(line['events'])} of {amount(line['eligible'])} ({rate(line['rate'])})"


def _moment(value: Any) -> str | float:
    """Return a moment as JSON can carry it."""
    return float(value) if isinstance(value, float) else pd.Timestamp(value).isoformat()


def _grouped(times: Times) -> tuple[IntArray, list[str]]:
    """Return the period of each row by its number, and the names of the periods in order."""
    if times.dtype.kind == "M":
        return _by_date(pd.Series(times))
    values, codes = np.unique(times, return_inverse=True)
    if len(values) <= MOST:
        return codes.astype(np.intp), [f"{value:g}" for value in values]
    # Rows of one value are never parted.
    edges = np.unique(np.quantile(times, np.linspace(0, 1, CUTS + 1)[1:-1], method="lower"))
    codes = np.searchsorted(edges, times, side="left")
    _, codes = np.unique(codes, return_inverse=True)
    return codes.astype(np.intp), _ranges(times, codes)


def _ranges(times: npt.NDArray[np.float64], codes: IntArray) -> list[str]:
    parts = [times[codes == number] for number in range(int(codes.max()) + 1)]
    return [f"{part.min():g} to {part.max():g}" for part in parts]


def _by_date(times: pd.Series) -> tuple[IntArray, list[str]]:
    for span in SPANS:
        found = times.dt.to_period(span)
        if (found.max() - found.min()).n < MOST:
            break
    codes, periods = pd.factorize(found, sort=True)
    return codes.astype(np.intp), [str(period) for period in periods]
