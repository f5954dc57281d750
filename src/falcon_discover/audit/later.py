"""What a fitted audit can be asked about later rows."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from falcon_discover.audit.aliases import Aliases
from falcon_discover.audit.checks import check_same_rows
from falcon_discover.audit.drawn import drawing
from falcon_discover.audit.learned import Learned
from falcon_discover.data.labels import Labels
from falcon_discover.exceptions import InputError
from falcon_discover.metrics.decisions import array_of
from falcon_discover.rankers.training import LabelledState, codes_where
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.monitoring.batch import BatchReport


class Later(Aliases):
    """The life of an audit after its day: rows that come in, and what reviewers say of them."""

    def monitor(
        self, X: Any, *, proba: Any = None, confidence_level: float = PAPER.interval_level
    ) -> BatchReport:
        """Return how many confident errors to expect in rows without labels, and what changed.

        Parameters
        ----------
        X : new rows
        proba : the scores of `X`, for the estimator "precomputed"; as in `fit`
        confidence_level : of the interval of the number of confident errors

        Examples
        --------
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(300, random_state=0)
        >>> frozen = FrozenEstimator(planted.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
        >>> week = falcon.monitor(datasets.make_planted(200, random_state=1).X)
        >>> week.alarm
        'as_audited'
        """
        from falcon_discover.monitoring.batch import monitored

        table = self.new_rows(X, warn=False)
        p = self.given_scores(X, table, proba)
        with self._execution_context():
            return monitored(self.audit_, table, p, confidence_level)

    @property
    def learned_(self) -> Learned | None:
        """What the audit learned from reviewed rows, in words and numbers; None before `learn`."""
        check_is_fitted(self)
        return self.audit_.learned

    def learn(
        self,
        X: Any,
        y: Any = None,
        *,
        wrong: Any = None,
        proba: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Return a new audit whose ranking and risk also learned from reviewed rows.

        This audit stays as it is; so do the model, the rows it compares with, and the regions.
        `learned_` of the new one says what changed.

        Parameters
        ----------
        X, y : reviewed rows with their true labels. How they were chosen does not matter, as long
            as nobody looked at the labels: the top of a review list, or a random sample
        wrong : instead of `y`: whether the prediction of each row is wrong
        proba : the scores of `X`, for the estimator "precomputed"; as in `fit`
        sample_weight : how many rows each row stands for

        Examples
        --------
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> rows = datasets.make_planted(900, random_state=0)
        >>> frozen = FrozenEstimator(rows.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(rows.X[:600], rows.y[:600])
        >>> new_X, new_y = rows.X[600:], rows.y[600:]
        >>> top = falcon.review(new_X, budget=30)["row"].to_numpy()  # what reviewers looked at
        >>> wiser = falcon.learn(new_X.iloc[top], new_y[top])
        >>> wiser.learned_.rows
        30
        """
        from falcon_discover.monitoring.learn import check_can_learn, learned

        check_is_fitted(self)
        check_can_learn(self.audit_)
        if (y is None) == (wrong is None):
            raise InputError("learn needs either y, the true labels, or wrong: pass one of them.")
        table = self.new_rows(X)
        p = self.given_scores(X, table, proba)
        drawn = drawing(table, None, sample_weight)
        name, given = ("y", y) if wrong is None else ("wrong", wrong)
        known = None if y is None else Labels.from_input(y, self.classes_).codes
        missed = _verdicts(wrong) if known is None else known.astype(np.bool_)
        if len(missed) != len(table):
            raise InputError(
                f"X has {len(table):,} rows and {name} has {len(missed):,}: they must match."
            )
        check_same_rows(X, given, y_name=name)
        check_same_rows(X, sample_weight, y_name="sample_weight")
        # That rows were given to fit is said where they are left out.
        with self._execution_context(), notices.collected():
            state = drawn.given_to(self.audit_.state(table, p))
            codes = codes_where(state, missed) if known is None else known
            audit = learned(self.audit_, LabelledState(state, codes))
        other = copy(self)
        other.audit_ = audit
        return other


def _verdicts(wrong: Any) -> BoolArray:
    """Return which predictions are wrong, as they were given."""
    values = array_of(wrong, "wrong")
    if values.dtype.kind not in "biufO" or values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InputError(
            "wrong has values other than True and False: give one of these for each row."
        )
    return values.astype(np.bool_)
