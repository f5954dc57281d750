"""How often predictions on training rows are noticed, and how often honest ones are accused.

    python benchmarks/in_sample.py [results/in_sample.csv]

Each case has rows to audit and three models of each kind: one trained on these very rows, one on
as many other rows, and one on up to twenty times as many (20,000 at most). The data sets are those
of the folder that FALCON_DISCOVER_DATA names, and made-up ones: labels with noise, an easy problem,
many clusters, a linear one, and a checkerboard that models learn only from many rows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.evaluation.plausibility import by_heart, second_opinions
from falcon_discover.metrics import fc_auroc
from falcon_discover.signals.opinions import Opinions

SIZES = (1_000, 2_000, 4_000)
MORE, AT_MOST = 20, 20_000
MODELS = {
    "random forest": RandomForestClassifier(100, random_state=0),
    "extra trees": ExtraTreesClassifier(100, random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "nearest neighbour": KNeighborsClassifier(1),
    "tree, leaves of 5": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
}
MADE_UP = {
    "noisy labels": {"flip_y": 0.15, "n_informative": 8, "class_sep": 0.8},
    "easy": {"flip_y": 0.0, "n_informative": 8, "class_sep": 3.0, "n_clusters_per_class": 1},
    "many clusters": {"flip_y": 0.0, "n_informative": 10, "n_clusters_per_class": 8},
}


def made_up(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if name in MADE_UP:
        seed = int(rng.integers(2**31))
        return make_classification(n, 15, random_state=seed, **MADE_UP[name])
    X = rng.uniform(-3, 3, (n, 8))
    odds = X @ np.linspace(-1, 1, 8) / 2
    if name == "checkerboard":
        odds = np.where((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2, 4.0, -4.0)
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-odds))).astype(int)


def measured(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_parquet(path)
    y = table.pop("target").to_numpy(dtype=int)
    rows = Table.from_input(table)
    return TransformedView().fit(rows).transform(rows).astype(np.float64), y


def opinions(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    said = np.empty((len(y), 3))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    coordinates = X.astype(np.float32)
    for others, held_out in folds.split(X, y):
        fitted = Opinions.fit(coordinates[others], y[others], seed=0, n_jobs=1)
        said[held_out] = fitted.predict(coordinates[held_out])
    return np.clip(said, 1e-3, 1 - 1e-3)


def cases(name: str, X: np.ndarray, y: np.ndarray, n: int) -> list[dict[str, object]]:
    rows, labels = X[:n], y[:n]
    reached, missed = second_opinions(labels.astype(np.int8), opinions(rows, labels))
    trained_on = {"these rows": slice(0, n), "as many others": slice(n, 2 * n)}
    if len(y) >= 4 * n:
        trained_on["many others"] = slice(n, n + min(MORE * n, AT_MOST))
    found = []
    for kind, model in MODELS.items():
        for which, part in trained_on.items():
            p = model.fit(X[part], y[part]).predict_proba(rows)[:, 1]
            area, right = fc_auroc(labels, p), (p >= 0.5) == labels
            found.append(
                {
                    "data": name,
                    "rows": n,
                    "model": kind,
                    "trained_on": which,
                    "auroc": round(area, 4),
                    "opinions": round(reached, 4),
                    "missed": int(missed.sum()),
                    "right": int(right[missed].sum()),
                    "accused": by_heart(area, reached, right[missed]),
                }
            )
    return found


def main(out: Path) -> None:
    rng = np.random.default_rng(0)
    folder = os.environ.get("FALCON_DISCOVER_DATA")
    lines: list[dict[str, object]] = []
    for path in sorted(Path(folder).glob("*.parquet")) if folder else []:
        X, y = measured(path)
        for n in SIZES:
            order = rng.permutation(len(y))
            if len(y) >= 2 * n:
                lines += cases(path.stem, X[order], y[order], n)
    for name in (*MADE_UP, "linear", "checkerboard"):
        for n in SIZES:
            lines += cases(name, *made_up(name, n + min(MORE * n, AT_MOST), rng), n)
    found = pd.DataFrame(lines)
    found.to_csv(out, index=False)
    words = found.pivot_table(
        "accused", "model", "trained_on", lambda a: f"{a.sum()} of {len(a)}", sort=False
    )
    print("Accused of having been trained on the audited rows, by what it was trained on")
    print(words[["these rows", "as many others", "many others"]].to_string())
    print(found[found["accused"] & (found["trained_on"] != "these rows")].to_string(index=False))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/in_sample.csv"))
