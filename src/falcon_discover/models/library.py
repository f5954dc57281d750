"""The candidate library: seven base models with fixed, documented hyperparameters.

Every candidate works on the transformed view. The hyperparameters are ordinary ones, the
same for every data set, and never tuned on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.optional import hint, is_installed
from falcon_discover.settings import PAPER

Factory = Callable[[int, int], Any]


@dataclass(frozen=True)
class TableModel:
    """A deep model of the library, which takes the table itself: its own scaling, its categories.

    Parameters
    ----------
    make : from seed and threads
    modules : the packages it needs, all of one extra
    """

    make: Factory
    modules: tuple[str, ...]
    extra: str = "deep"

    @property
    def installed(self) -> bool:
        """Whether the packages it needs can be imported."""
        return all(is_installed(module) for module in self.modules)


@dataclass(frozen=True)
class Candidate:
    """A base model of the library: how to make it and which package it needs.

    `dtype` is the type of its input: sums of products in float32 would differ in the last digits
    between one row and many. `spins` marks models whose threads wait for each other all the time.
    `threads`, where given, is how many a large fit always has: the result depends on them.
    """

    make: Factory
    module: str
    extra: str | None = None
    dtype: str = "float32"
    spins: bool = False
    threads: int | None = None

    @property
    def installed(self) -> bool:
        """Whether the package it needs can be imported."""
        return is_installed(self.module)


def _logistic_regression(seed: int, n_jobs: int) -> Any:
    return LogisticRegression(C=1.0, max_iter=2000, random_state=seed)


def _random_forest(seed: int, n_jobs: int) -> Any:
    # Fully grown trees: votes are whole numbers, so their sum is the same in any order.
    return RandomForestClassifier(n_estimators=300, random_state=seed, n_jobs=n_jobs)


def _extra_trees(seed: int, n_jobs: int) -> Any:
    return ExtraTreesClassifier(n_estimators=300, random_state=seed, n_jobs=n_jobs)


def _hist_gradient_boosting(seed: int, n_jobs: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=300, learning_rate=0.05, early_stopping=False, random_state=seed
    )


def _mlp(seed: int, n_jobs: int) -> Any:
    return MLPClassifier(
        hidden_layer_sizes=(64, 32),
        alpha=1e-3,
        max_iter=40,  # a fixed number of passes; it need not have converged by then
        random_state=seed,
    )


def _xgboost(seed: int, n_jobs: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=400,
        max_depth=6,
        learning_rate=0.05,
        tree_method="hist",
        random_state=seed,
        n_jobs=n_jobs,
    )


def _catboost(seed: int, n_jobs: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=500,
        depth=6,
        learning_rate=0.05,
        random_seed=seed,
        thread_count=n_jobs,
        verbose=False,
        allow_writing_files=False,
    )


def _lightgbm(seed: int, n_jobs: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=400,
        learning_rate=0.05,
        num_leaves=31,
        random_state=seed,
        n_jobs=n_jobs,
        deterministic=True,
        force_row_wise=True,
        verbosity=-1,
    )


def _realmlp(seed: int, n_jobs: int) -> Any:
    from falcon_discover.models.deep.realmlp import RealMLPClassifier

    return RealMLPClassifier(random_state=seed, n_jobs=n_jobs)


def _realmlp_smoothed(seed: int, n_jobs: int) -> Any:
    return _realmlp(seed, n_jobs).set_params(label_smoothing=True)


def _ft_transformer(seed: int, n_jobs: int) -> Any:
    from falcon_discover.models.deep.ft_transformer import FTTransformerClassifier

    return FTTransformerClassifier(random_state=seed, n_jobs=n_jobs)


def _saint(seed: int, n_jobs: int) -> Any:
    from falcon_discover.models.deep.saint import SaintClassifier

    return SaintClassifier(random_state=seed, n_jobs=n_jobs)


def _saint_rows(seed: int, n_jobs: int) -> Any:
    return _saint(seed, n_jobs).set_params(rows=True)


_FACTORIES: dict[str, Candidate] = {
    "logistic_regression": Candidate(_logistic_regression, "sklearn", dtype="float64"),
    "random_forest": Candidate(_random_forest, "sklearn"),
    "extra_trees": Candidate(_extra_trees, "sklearn"),
    "hist_gradient_boosting": Candidate(_hist_gradient_boosting, "sklearn"),
    "mlp": Candidate(_mlp, "sklearn", dtype="float64"),
    "xgboost": Candidate(_xgboost, "xgboost", "xgboost", spins=True),
    "catboost": Candidate(_catboost, "catboost", "catboost", spins=True, threads=2),
}
# Second opinions: three cheap models that go wrong in different ways. Small on purpose; what counts
# is that they see the rows differently from the audited model, not that they are better.


def _opinion_boosting(seed: int, n_jobs: int) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=40, learning_rate=0.2, max_bins=127, early_stopping=False, random_state=seed
    )


def _opinion_forest(seed: int, n_jobs: int) -> Any:
    return ExtraTreesClassifier(
        n_estimators=24, min_samples_leaf=3, random_state=seed, n_jobs=n_jobs
    )


def _opinion_linear(seed: int, n_jobs: int) -> Any:
    return LogisticRegression(C=1.0, max_iter=100, tol=1e-3, random_state=seed)


OPINIONS: dict[str, Candidate] = {
    "boosting": Candidate(_opinion_boosting, "sklearn"),
    "forest": Candidate(_opinion_forest, "sklearn"),
    "linear": Candidate(_opinion_linear, "sklearn", dtype="float64"),
}
# A backbone to compare with; the paper does not select from it.
COMPARATORS = {"lightgbm": Candidate(_lightgbm, "lightgbm", "lightgbm", spins=True)}
CANDIDATES = {name: _FACTORIES[name] for name in PAPER.candidates}
# Deep models to compare with, never selected either.
DEEP = {
    "realmlp": TableModel(_realmlp, ("torch", "pytabkit")),
    "realmlp_smoothed": TableModel(_realmlp_smoothed, ("torch", "pytabkit")),
    "ft_transformer": TableModel(_ft_transformer, ("torch", "rtdl_revisiting_models")),
    "saint": TableModel(_saint, ("torch",)),
    "saint_rows": TableModel(_saint_rows, ("torch",)),
}


def names() -> list[str]:
    """Return the names of all candidates, installed or not.

    Examples
    --------
    >>> names()[:2]
    ['logistic_regression', 'random_forest']
    """
    return list(CANDIDATES)


def known(name: str) -> Candidate | TableModel:
    """Return a model by name, or say which there are and how to install what it needs."""
    everything: dict[str, Candidate | TableModel] = {**CANDIDATES, **COMPARATORS, **DEEP}
    if name not in everything:
        raise InputError(f"there is no backbone {name!r}: choose one of {', '.join(everything)}.")
    found = everything[name]
    if not found.installed:
        raise InputError(hint(f"backbone {name!r}", found.extra))
    return found


def candidate(name: str) -> Candidate:
    """Return a model that works on the transformed view by name."""
    found = known(name)
    if isinstance(found, TableModel):
        raise InputError(f"backbone {name!r} takes the table itself, not its transformed view.")
    return found
