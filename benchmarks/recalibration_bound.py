"""The best that a recalibration could do on the test rows if it knew their labels.

    python benchmarks/recalibration_bound.py STORE

Fits Platt's two parameters, and an isotonic map, to the test labels themselves, for the lowest
Brier score. No monotone recalibration fitted elsewhere can be better than the isotonic one on
these rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from falcon_discover import metrics
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.store import Store
from falcon_discover.metrics.odds import clipped_logit


def bounds(run: Run) -> dict[str, float]:
    test = run.part("test").sort_values("p", kind="stable")
    y, p = test["label"].to_numpy(), test["p"].to_numpy()
    z = clipped_logit(p)

    def loss(b: np.ndarray) -> float:
        return metrics.brier(y, expit(b[0] * z + b[1]))

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead")
    return {
        "native": metrics.brier(y, p),
        "best two-parameter": float(best.fun),
        "best monotone": metrics.brier(y, isotonic_regression(y.astype(float))),
    }


def main(folder: Path) -> None:
    study = Study(Store(folder))
    table = {
        name: pd.DataFrame([bounds(run) for run in study.runs(name)]).mean()
        for name in study.datasets
    }
    print("Brier score on the test rows, means of four seeds")
    print(pd.DataFrame(table).T.round(4).to_string())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
