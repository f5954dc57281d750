"""What was tried for ranker "auto", on generated data only: gain in eligible AUROC over the gate.

    python benchmarks/ranker_choices.py            # about ten minutes; results/ranker_choices.csv

Every problem has 5,000 rows to train and audit on and 20,000 to judge by, an XGBoost base model and
tau 0.90. None of the study's data sets is among them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn import datasets as generators
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from falcon_discover import PAPER, FalconDiscover, datasets, metrics
from falcon_discover.rankers import GatedRisk
from falcon_discover.rankers.evidence import BELOW_TAU_WEIGHT, OWN_SCALE, TASKS
from falcon_discover.rankers.inputs import features, signal_columns
from falcon_discover.signals.state import State

OUT = Path(__file__).parents[1] / "results" / "ranker_choices.csv"
ROWS, JUDGES = 5_000, 20_000
Problem = Callable[[int], tuple[pd.DataFrame, np.ndarray]]


def classification(**options: object) -> Problem:
    def make(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
        X, y = generators.make_classification(ROWS + JUDGES, random_state=seed, **options)
        return pd.DataFrame(X).add_prefix("x"), y

    return make


def planted(shape: str) -> Problem:
    def make(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
        found = datasets.make_planted(ROWS + JUDGES, shape=shape, random_state=seed)
        return found.X, found.y

    return make


def friedman(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, mean = generators.make_friedman1(ROWS + JUDGES, random_state=seed)
    spread = 1.5 * (0.4 + 2 * X[:, 5])
    value = mean + np.random.default_rng(seed).normal(size=len(mean)) * spread
    return pd.DataFrame(X).add_prefix("x"), (value > np.quantile(value, 0.7)).astype(int)


def quantiles(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = generators.make_gaussian_quantiles(
        n_samples=ROWS + JUDGES, n_features=6, n_classes=2, random_state=seed
    )
    X += np.random.default_rng(seed).normal(scale=0.25, size=X.shape)
    return pd.DataFrame(X).add_prefix("x"), y


PROBLEMS: dict[str, Problem] = {
    "classes, easy": classification(
        n_features=20, n_informative=6, n_redundant=4, class_sep=1.2, flip_y=0.03
    ),
    "classes, many clusters": classification(
        n_features=15, n_informative=8, n_clusters_per_class=6, class_sep=1.4, flip_y=0.01
    ),
    "classes, imbalanced": classification(
        n_features=25, n_informative=8, weights=[0.88], class_sep=0.9, flip_y=0.02
    ),
    "friedman, uneven noise": friedman,
    "gaussian quantiles": quantiles,
    "planted box": planted("box"),
    "planted category": planted("categorical"),
    "planted gap": planted("missing"),
    "planted nothing": planted("none"),
}


def linear(state: State, wrong: np.ndarray, new: State, weight: float) -> np.ndarray:
    """Return the ridge regression's log-odds; rows below tau count `weight`."""
    eligible = state.eligible(PAPER.tau)
    used = eligible | (weight > 0)
    rows, later = (np.column_stack(list(signal_columns(s).values())) for s in (state, new))
    scaler = StandardScaler().fit(rows[eligible])
    rows, later = scaler.transform(rows), scaler.transform(later)
    rows[:, 0] *= OWN_SCALE
    later[:, 0] *= OWN_SCALE
    model = LogisticRegression(C=TASKS["error"].ridge_c, solver="newton-cholesky", max_iter=100)
    weights = np.where(eligible, 1.0, weight)
    return model.fit(rows[used], wrong[used], weights[used]).decision_function(later)


def trees(
    state: State, wrong: np.ndarray, new: State, *, below: bool, monotone: bool, raw: bool
) -> np.ndarray:
    """Return the boosted trees' log-odds."""
    used = state.eligible(PAPER.tau) | below
    names = list(signal_columns(state))
    rows, later = (np.column_stack(list(signal_columns(s).values())) for s in (state, new))
    if raw:
        rows, later = np.hstack([rows, features(state)]), np.hstack([later, features(new)])
    directed = [int(monotone and name != "decision") for name in names]
    model = HistGradientBoostingClassifier(
        max_iter=40, learning_rate=0.12, max_depth=5, min_samples_leaf=20, l2_regularization=10.0,
        max_features=0.5, early_stopping=False, random_state=0,
        monotonic_cst=directed + [0] * (rows.shape[1] - len(names)),
    )  # fmt: skip
    return model.fit(rows[used], wrong[used]).decision_function(later)


def choices(state: State, wrong: np.ndarray, new: State) -> dict[str, np.ndarray]:
    """Return the score of every choice for new eligible rows."""
    events = int(wrong[state.eligible(PAPER.tau)].sum())
    share = 0.5 * events / (events + TASKS["error"].trees_half)

    def blend(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (1 - share) * a + share * b

    straight = linear(state, wrong, new, BELOW_TAU_WEIGHT)
    narrow = linear(state, wrong, new, 0.0)
    grown = trees(state, wrong, new, below=True, monotone=False, raw=True)
    few = trees(state, wrong, new, below=False, monotone=False, raw=True)
    directed = trees(state, wrong, new, below=True, monotone=True, raw=True)
    plain = trees(state, wrong, new, below=True, monotone=False, raw=False)
    return {
        "ridge regression, eligible rows only": narrow,
        "ridge regression, all errors": straight,
        "boosted trees, eligible rows only": few,
        "boosted trees, all errors": grown,
        "blend, eligible rows only": blend(narrow, few),
        "blend, all errors": blend(straight, grown),
        "blend, monotone trees": blend(straight, directed),
        "blend, trees without features": blend(straight, plain),
        "blend of ranks": blend(rankdata(straight), rankdata(grown)),
        "auto as it is": GatedRisk().fit(state, wrong, PAPER.tau).risk(new),
        "auto without second opinions": GatedRisk(leave_out=("opinions",))
        .fit(state, wrong, PAPER.tau)
        .risk(new),
    }


def main() -> None:
    lines = []
    for name, make in PROBLEMS.items():
        X, y = make(0)
        falcon = FalconDiscover("xgboost", random_state=0, n_jobs=1).fit(X[:ROWS], y[:ROWS])
        known = falcon.examine().audit.training.oof
        later = falcon.examine(X[ROWS:], y[ROWS:])
        eligible = later.state.eligible(PAPER.tau)
        new = later.state.take(np.flatnonzero(eligible))
        events = (new.decision != later.codes[eligible]).astype(bool)
        gate = metrics.fc_auroc(events, 1.0 - new.confidence)
        for choice, score in choices(known.state, known.errors(), new).items():
            gain = metrics.fc_auroc(events, score) - gate
            lines.append({"problem": name, "events": events.sum(), "choice": choice, "gain": gain})
        print(name, f"{int(events.sum())} events, gate {gate:.3f}", flush=True)
    frame = pd.DataFrame(lines)
    frame.to_csv(OUT, index=False, float_format="%.4f")
    print(frame.groupby("choice", sort=False)["gain"].agg(["mean", "min"]).round(4).to_string())


if __name__ == "__main__":
    main()
