"""What a finding can be asked, asked of the estimator: `falcon.review(X)` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from falcon_discover.audit.door import Door
from falcon_discover.calibration.discrepancy import Caution
from falcon_discover.calibration.model import CalibratedModel
from falcon_discover.evaluation.budget import ReviewBudget
from falcon_discover.evaluation.contributions import Contributions
from falcon_discover.evaluation.results import Evaluation
from falcon_discover.regions.conflict import Conflict
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER

if TYPE_CHECKING:
    from falcon_discover.plots.accessor import Plots

Keep = Literal["full", "sample", "none"]


class Aliases(Door):
    """Asks the finding on the rows that are given, or on those of the fit."""

    backbone_: str

    @property
    def plot(self) -> Plots:
        """Figures of the rows given to `fit`: `plot.capture()` and more.

        For other rows: `examine(X, y).plot.capture()`.
        """
        return self.examine().plot

    def review(self, X: Any = None, budget: float = PAPER.main_budget) -> pd.DataFrame:
        """Return the most suspicious rows with a reason for each.

        Parameters
        ----------
        X : new rows; without it, the rows given to `fit`, each judged out-of-fold
        budget : share of the rows to review

        Returns
        -------
        frame, most suspicious first: row (position), suspicion, p (the probability of the last of
        `classes_`), predicted, confidence, region, region_id, reason; its index holds the row
        labels of `X`
        """
        return self.examine(X).review(budget)

    def evaluate(
        self,
        X: Any = None,
        y: Any = None,
        budgets: Sequence[float] = PAPER.budgets,
        taus: Sequence[float] = PAPER.taus,
        *,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Evaluation:
        """Return how well the ranker and the baselines find the confident errors of labelled rows.

        Without `X` and `y` the rows given to `fit` are used, each judged out-of-fold.
        `sample_weight` and `groups` are those of `X`, as in `examine`.
        """
        found = self.examine(X, y, sample_weight=sample_weight, groups=groups)
        return found.evaluate(budgets=budgets, taus=taus)

    def review_budget(
        self,
        max_residual_rate: float,
        confidence_level: float = PAPER.interval_level,
        *,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        batch: int | None = None,
        confidence: float | None = None,
    ) -> ReviewBudget:
        """Return the smallest share to review so that the rest is safe.

        Parameters
        ----------
        max_residual_rate : highest rate of confident errors among the rows not reviewed
        confidence_level : probability with which the statement is to hold
        X, y : labelled rows that were not given to `fit`, for an exact statement; without them
            the rows given to `fit` are used, each judged out-of-fold
        sample_weight, groups : of `X`, as in `examine`
        batch : how many rows to come the statement is to speak of; without it, of the long run
        confidence : the old name of `confidence_level`

        See Also
        --------
        Finding.missed_bound : the reverse, for a given budget: `examine(X, y).missed_bound(0.2)`
        """
        found = self.examine(X, y, sample_weight=sample_weight, groups=groups)
        return found.review_budget(
            max_residual_rate, confidence_level, batch=batch, confidence=confidence
        )

    def report(
        self,
        path: str | Path,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        name: str = "rows",
        budget: float = PAPER.main_budget,
        max_residual_rate: float | None = None,
        batch: int | None = None,
        contributions: bool | None = None,
    ) -> Path:
        """Write the audit as an offline HTML page, as Markdown and as JSON.

        Parameters
        ----------
        path : a folder for all files and the review list, or one file ending in .html, .md, .json
        X, y : labelled rows to report on; without `y` they are ranked, not judged; without both,
            the rows given to `fit`, each judged out-of-fold
        sample_weight, groups : of `X`, as in `examine`
        name : of the data, as the report's title
        budget : share of the rows in the review list
        max_residual_rate : rate of confident errors among unread rows to find a budget for
        batch : how many rows to come budgets are to speak of; without it, of the long run
        contributions : whether to measure what each family of signals earns, which refits the
            ranker; None measures it where that takes little

        Returns
        -------
        path of the page, or of the one file

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(600, random_state=0)
        >>> frozen = FrozenEstimator(planted.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
        >>> with TemporaryDirectory() as folder:
        ...     falcon.report(Path(folder) / "audit").name
        'report.html'
        """
        with self._execution_context():
            found = self.examine(X, y, sample_weight=sample_weight, groups=groups)
            return found.report(
                path,
                name=name,
                budget=budget,
                max_residual_rate=max_residual_rate,
                batch=batch,
                contributions=contributions,
                how={"model": self.backbone_},
            )

    def contributions(self) -> Contributions:
        """Return what each family of signals earns: the loss in eligible AUROC without it."""
        check_is_fitted(self)
        with self._execution_context():
            return self.audit_.contributions()

    def conflict(
        self, X: Any = None, y: Any = None, *, sample_weight: Any = None, groups: Any = None
    ) -> Conflict:
        """Return conflict amplification over a grid of thresholds, and the regime of the rows."""
        return self.examine(X, y, sample_weight=sample_weight, groups=groups).conflict()

    def calibration_weights(self, X: Any = None, y: Any = None) -> FloatArray:
        """Return w_cal (eq:cal_weight) of labelled rows: emphasis on confident errors.

        Without `X` and `y`, of the rows given to `fit`, each judged out-of-fold.
        """
        return self.examine(X, y).calibration_weights()

    def calibrated(
        self, method: str = "discrepancy", *, weighted: bool = False, caution: Caution = 0.0
    ) -> CalibratedModel:
        """Return a fitted classifier with the same model and recalibrated probabilities.

        It learns from the cross-fitted scores of the rows given to `fit`, and from `X_cal`.

        Parameters
        ----------
        method : {"temperature", "platt", "isotonic", "beta", "discrepancy"}
            The first four look at the score alone; "discrepancy" also at the evidence
        weighted : whether rows count by `w_cal`, clipped as in the paper
        caution : for "discrepancy": how far log-odds are shrunk, 0 (the default) for not at all,
            "auto" as far as two thirds of the gain in log loss pay for. Its price: confident
            errors get fewer because confident predictions do, and calibration gets worse; among
            equally many of the surest predictions there are as many errors as without

        Examples
        --------
        >>> from sklearn.frozen import FrozenEstimator
        >>> from falcon_discover import FalconDiscover, datasets
        >>> planted = datasets.make_planted(600, random_state=0)
        >>> frozen = FrozenEstimator(planted.model)
        >>> falcon = FalconDiscover(frozen, random_state=0).fit(planted.X, planted.y)
        >>> falcon.calibrated("platt").predict_proba(planted.X[:3]).shape
        (3, 2)
        """
        check_is_fitted(self)
        with self._execution_context():
            calibrator = self.audit_.calibrator(method, weighted=weighted, caution=caution)
        model = CalibratedModel(self, method, weighted=weighted, caution=caution)
        return model.with_fitted(self, calibrator)

    def save(self, path: str | Path, reference: Keep = "full") -> Path:
        """Save the fitted audit in one file, which `falcon_discover.load` reads.

        Parameters
        ----------
        path : where; an older file there is replaced in one step
        reference : {"full", "sample", "none"}
            Which of the rows given to `fit` go into the file. "full" gives the same scores after
            loading, to the last bit. "sample" keeps a tenth of the rows (at least 1,000), with
            each class's share; signals are measured against these, so scores change.
            "none" keeps no row: the loaded audit ranks by gated confidence. In any case
            the file holds the model and, for columns of text, the values they had.

        Warns
        -----
        DataWarning : if loading the file will need trust in types that are not known to be safe

        Examples
        --------
        >>> import tempfile
        >>> from falcon_discover import FalconDiscover, datasets, load
        >>> rows = datasets.make_planted(300, random_state=0)
        >>> falcon = FalconDiscover("logistic_regression", random_state=0).fit(rows.X, rows.y)
        >>> new = datasets.make_planted(50, random_state=1).X
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load(falcon.save(f"{folder}/audit.falcon"))
        >>> bool((again.score_samples(new) == falcon.score_samples(new)).all())
        True
        """
        check_is_fitted(self)
        from falcon_discover.storage.save import save

        return save(self, Path(path), reference)
