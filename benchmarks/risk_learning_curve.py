"""Why the risk is a little too high for refitted models, and whether that can be foreseen.

A calibration of the model's own doubt is learned from fold models (80% of the rows) and applied
to the refitted model; its excess on test rows is the bias. One level down, a calibration learned
from models without two folds (60%) is applied to the fold models: no test label is needed. If
errors fall with one over the number of rows, the bias is 0.6 times the excess there.

    FALCON_DISCOVER_DATA=... python benchmarks/risk_learning_curve.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from falcon_discover import datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.metrics import confidence, false_confidence
from falcon_discover.runtime import notices
from falcon_discover.settings import PAPER

DATASETS = ("adult", "bank_marketing", "magic_telescope", "nomao", "phoneme", "spambase")
MODELS = {
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=200, random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=200),
}
OUT = "results/risk_learning_curve.csv"
LEVEL_RATIO = (1 / 0.8 - 1) / (1 / 0.6 - 1 / 0.8)


def predicted(known: np.ndarray, y: np.ndarray, later: np.ndarray) -> float:
    """Return the confident errors that a calibration of the own doubt predicts for scores."""
    sure = confidence(known) >= PAPER.tau
    line = LogisticRegression(C=1e6).fit(_doubt(known[sure]), false_confidence(y, known)[sure])
    return float(line.predict_proba(_doubt(later[confidence(later) >= PAPER.tau]))[:, 1].sum())


def _doubt(p: np.ndarray) -> np.ndarray:
    return -logit(np.minimum(confidence(p), 1 - PAPER.logit_clip))[:, None]


def measure(dataset: str, seed: int, model: str) -> dict[str, object]:
    """Return predicted and observed confident errors, on test rows and one level down."""
    X, y = datasets.load(dataset)
    table, y = Table.from_input(X), Labels.from_input(y).codes
    X = TransformedView().fit(table).transform(table)
    train, validation, test = paper_split(y, seed)
    own = np.concatenate([train, validation])
    rows, labels = X[own], y[own]
    fold = np.empty(len(own), dtype=int)
    splitter = StratifiedKFold(PAPER.n_folds, shuffle=True, random_state=seed)
    for number, (_, held_out) in enumerate(splitter.split(rows, labels)):
        fold[held_out] = number

    def scores(out: tuple[int, ...], asked: np.ndarray) -> np.ndarray:
        used = ~np.isin(fold, out)
        return MODELS[model]().fit(rows[used], labels[used]).predict_proba(asked)[:, 1]

    without_one, without_two = np.empty(len(own)), np.empty((2, len(own)))
    for f in range(PAPER.n_folds):
        here, there = fold == f, fold == (f + 1) % PAPER.n_folds
        without_one[here] = scores((f,), rows[here])
        pair = scores((f, (f + 1) % PAPER.n_folds), rows[here | there])
        without_two[0, here] = pair[here[here | there]]
        without_two[1, there] = pair[there[here | there]]
    refitted = scores((), X[test])
    below = [predicted(p, labels, without_one) for p in without_two]
    return {
        "dataset": dataset,
        "seed": seed,
        "model": model,
        "predicted": predicted(without_one, labels, refitted),
        "observed": int(false_confidence(y[test], refitted).sum()),
        "predicted_below": float(np.mean(below)),
        "observed_below": int(false_confidence(labels, without_one).sum()),
    }


if __name__ == "__main__":
    with notices.solving():
        found = pd.DataFrame(
            [measure(d, s, m) for m in MODELS for d in DATASETS for s in PAPER.seeds]
        )
    found.to_csv(OUT, index=False, float_format="%.2f")
    pooled = found.groupby(["model", "dataset"]).sum(numeric_only=True)
    bias = pooled["predicted"] / pooled["observed"] - 1
    below = pooled["predicted_below"] / pooled["observed_below"] - 1
    table = pd.DataFrame({"bias": bias, "foreseen": LEVEL_RATIO * below})
    print(table.round(3).to_string())
