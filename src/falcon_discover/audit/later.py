"""What a fitted audit can be asked about later rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from falcon_discover.audit.aliases import Aliases
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.monitoring.batch import BatchReport


class Later(Aliases):
    """The life of an audit after its day: rows that come in without labels."""

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
