"""Whether risks keep their word over many batches: a check that may be read after each of them.

Each batch is a bet against the estimate. Say that `expected` errors were estimated and `observed`
ones found. If errors are independent and their expected number is at most `m`, then
`exp(s * observed - m * (exp(s) - 1))` is at most 1 on average, for any stake `s` above 0 that was
fixed before; for stakes below 0 the same holds if their number is at least `m`. So a capital that
is multiplied by it batch after batch is not expected to grow while the risks hold, and reaches 20
with a chance of at most 5%, however many batches are looked at (Ville's inequality). The capital
is the mean over several stakes, for more and for fewer errors than estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from falcon_discover.exceptions import InputError, check_number
from falcon_discover.runtime.display import Result
from falcon_discover.runtime.records import plain
from falcon_discover.runtime.types import FloatArray
from falcon_discover.runtime.words import counted, number_of, percent
from falcon_discover.settings import PAPER

# Logs of how many times more errors than tolerated there are, where each stake grows fastest.
STAKES = np.array([0.1, 0.2, 0.4, 0.8, -0.1, -0.2, -0.4, -0.8])
# Risks that are off by no more than this are good enough.
TOLERANCE = 0.1


@dataclass(frozen=True, repr=False)
class CalibrationWatch(Result):
    """The running check of the risks' calibration; each batch with labels makes a new one.

    Attributes
    ----------
    tolerance : how far the risks may be off, as a share of their size
    confidence_level : one minus the chance of ever giving a false alarm
    batches, expected, observed : how many batches there were, what was estimated and what was found
    capital : by stake, the logarithm of what a bet against the risks has made
    raised_at : the number of the batch at which the alarm went off; 0 if it has not

    Examples
    --------
    >>> watch = CalibrationWatch()
    >>> for _ in range(12):
    ...     watch = watch.after(observed=33, expected=20.0)
    >>> watch.alarm, watch.raised_at
    (True, 3)
    >>> CalibrationWatch.from_dict(watch.to_dict()) == watch
    True
    """

    tolerance: float = TOLERANCE
    confidence_level: float = PAPER.interval_level
    batches: int = 0
    expected: float = 0.0
    observed: int = 0
    capital: tuple[float, ...] = (0.0,) * len(STAKES)
    raised_at: int = 0

    def __post_init__(self) -> None:
        must = "it lies between 0 and 1"
        check_number("tolerance", self.tolerance, lambda value: 0 <= value < 1, must)
        check_number("confidence_level", self.confidence_level, lambda value: 0 < value < 1, must)

    def after(self, observed: int, expected: float, design_effect: float = 1.0) -> CalibrationWatch:
        """Return the check after one more batch.

        Parameters
        ----------
        observed : confident errors that were found
        expected : confident errors that were estimated, before the labels were known
        design_effect : how many errors come together, where rows have groups; that many count as
            one in the bet
        """
        must = "a number of errors is 0 or more"
        check_number("observed", observed, lambda value: 0 <= value < math.inf, must)
        check_number("expected", expected, lambda value: 0 <= value < math.inf, must)
        check_number("design_effect", design_effect, lambda value: value >= 1, "it is 1 or more")
        factor = 1 + self.tolerance
        worst = np.where(STAKES > 0, expected * factor, expected / factor)
        gain = STAKES * observed - worst * np.expm1(STAKES)
        capital = np.array(self.capital) + gain / design_effect
        number = self.batches + 1
        return CalibrationWatch(
            self.tolerance,
            self.confidence_level,
            number,
            self.expected + float(expected),
            self.observed + int(observed),
            tuple(float(value) for value in capital),
            self.raised_at or (number if self._reached(capital) else 0),
        )

    def _reached(self, capital: FloatArray) -> bool:
        mean = float(np.logaddexp.reduce(capital)) - math.log(len(STAKES))
        return mean >= -math.log1p(-self.confidence_level)

    @property
    def alarm(self) -> bool:
        """Whether the risks have been shown not to hold."""
        return self.raised_at > 0

    @property
    def sentence(self) -> str:
        """What the batches say, and what to do."""
        step = self.next_step()
        return f"{self.text()} {step[0].upper()}{step[1:]}"

    def text(self) -> str:
        """Return what the batches say."""
        if not self.batches:
            return "There is no batch with labels yet."
        batches = f"{self.batches:,} batch{'' if self.batches == 1 else 'es'}"
        was = "was" if self.observed == 1 else "were"
        found = (
            f"{number_of(self.observed, 'confident error')} {was} found in {batches}; the risks "
            f"predicted {counted(self.expected)}."
        )
        if self.alarm:
            more = "more" if self.observed > self.expected else "fewer"
            return (
                f"The risks no longer hold. {found} That is {more} than an error of up to "
                f"{percent(self.tolerance)} in the risks can explain; the alarm went off at batch "
                f"{self.raised_at:,}."
            )
        return f"The risks hold so far. {found}"

    def next_step(self) -> str:
        """Return what to do, in a sentence."""
        if self.alarm:
            return "audit again on fresh labelled rows."
        return "compare the next batch once its labels are known."

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, from which `from_dict` makes the same check."""
        return {**plain(asdict(self)), "alarm": self.alarm, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> CalibrationWatch:
        """Return the check that `to_dict` was made of."""
        names = asdict(cls())
        missing = [name for name in names if name not in kept]
        if missing:
            raise InputError(f"this is not a saved calibration watch: it lacks {missing[0]!r}.")
        values = {name: kept[name] for name in names}
        if len(values["capital"]) != len(STAKES):
            raise InputError(
                f"this is not a saved calibration watch: capital needs {len(STAKES)} values."
            )
        return cls(**{**values, "capital": tuple(float(value) for value in values["capital"])})
