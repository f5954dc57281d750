"""Rows that were examined: their state, their labels, and what these say without a ranker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from falcon_discover.audit.checks import check_same_rows
from falcon_discover.data.table import Table
from falcon_discover.data.twins import Content, warn_twins
from falcon_discover.evaluation.plausibility import alerts
from falcon_discover.evaluation.sides import by_predicted_class, notice
from falcon_discover.evaluation.sources import KNOWN_UNSEEN, NEW_ROWS
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.ordering import tie_keys
from falcon_discover.regions.region_set import RegionSet
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array
from falcon_discover.signals.state import State

if TYPE_CHECKING:
    from falcon_discover.audit.fitted import FittedAudit


@dataclass(frozen=True, eq=False)
class Examined:
    """Rows with their state; `Finding` is what can be asked about them.

    Attributes
    ----------
    audit : the fitted audit that the rows were judged by
    table : the rows
    state : their signals
    codes : their labels as positions among the classes, or None if they are not known
    is_fit_rows : whether these are the rows of the fit themselves, each judged out-of-fold
    source : what is known about these rows, in words; see `falcon_discover.evaluation.sources`
    cost : what a confident error in each row costs, where that is known
    """

    audit: FittedAudit
    table: Table
    state: State
    codes: npt.NDArray[np.int8] | None = None
    is_fit_rows: bool = False
    source: str = NEW_ROWS
    cost: FloatArray | None = None

    def warned(self) -> Self:
        """Say what a user must know about these rows, and return the finding."""
        for alert in self.alerts:
            notices.warn(alert)
        if self.one_sided:
            notices.warn(self.one_sided)
        if self.codes is not None:
            warn_twins(self.content.twins, len(self.codes))
        return self

    @property
    def index(self) -> pd.Index:
        """The rows' own labels."""
        return self.table.index

    @property
    def places(self) -> IntArray:
        """Where the rows stand among those that were given: not all of a fit need be judged."""
        held_out = self.audit.held_out
        if self.is_fit_rows and held_out is not None:
            return np.flatnonzero(held_out)
        return np.arange(len(self.state))

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The labels; of two, the positive one last."""
        return self.audit.classes

    @property
    def tau(self) -> Tau:
        """Confidence from which a wrong prediction counts; one number, or one for each class."""
        return self.audit.tau

    @cached_property
    def regions(self) -> RegionSet:
        """The regions, described on these rows where they are new and their labels known."""
        if self.is_fit_rows or self.codes is None:
            return self.audit.regions
        return self.audit.regions_on(self.table.frame, self.state, self.codes)

    @cached_property
    def alerts(self) -> tuple[str, ...]:
        """Why the scores cannot be what they are said to be, in sentences; mostly none."""
        # Nothing is asked where the model is known not to have seen these rows.
        if self.codes is None or self.source in KNOWN_UNSEEN:
            return ()
        return alerts(self.state, self.codes, self.classes, self.audit.scored)

    @cached_property
    def one_sided(self) -> str:
        """What to know where all confident errors are rows of one class, in words; mostly empty."""
        # Where an alert doubts the scores themselves, nothing is said about their errors.
        if self.codes is None or self.alerts:
            return ""
        return notice(by_predicted_class(self.state, self.codes, self.classes, self.tau))

    @cached_property
    def ties(self) -> UInt64Array:
        """What orders rows of equal suspicion: a hash of their content, mixed with the seed."""
        return tie_keys(self.table.row_hashes(), self.audit.seed)

    @cached_property
    def content(self) -> Content:
        """What the labelled rows hold, as far as budgets and bounds depend on it."""
        return Content.of(
            self.table.row_hashes(), self.audit.seed, self.labels, self.state.own_score
        )

    @property
    def labels(self) -> npt.NDArray[np.int8]:
        """The labels by position among the classes, or an error that asks for them."""
        if self.codes is None:
            raise InputError("this needs labels: pass y with X.")
        return self.codes

    @cached_property
    def events(self) -> BoolArray:
        """Which rows are confident errors; their labels must be known."""
        return self.state.events(self.labels, self.tau)


def matching(found: Examined, name: str, values: Any) -> Any:
    """Return what was given for the rows; raise if its pandas labels are in another order."""
    check_same_rows(found.table.native, values, y_name=name)
    return values
