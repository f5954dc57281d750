"""What a deep model costs as the base model of an audit, beside boosted trees.

    python benchmarks/deep_bases.py [MODEL ...]     # results/deep_bases.csv

`FalconDiscover` fits its base model once per fold, once per pair of folds and once on all rows: 16
times with five folds. Here on 500 rows and one thread, in seconds of processor time, which other
work on the machine hardly changes; with the label AUROC and the confident errors of the other
rows. It needs the extra `deep`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from falcon_discover import FalconDiscover, datasets

ROWS = 500
DATASETS = ("phoneme",)
MODELS = ("hist_gradient_boosting", "realmlp", "ft_transformer", "saint")
OUT = Path(__file__).parents[1] / "results" / "deep_bases.csv"


def measure(dataset: str, model: str) -> dict[str, Any]:
    X, y = datasets.load(dataset)
    order = np.random.default_rng(0).permutation(len(X))
    known, later = order[:ROWS], order[ROWS:]
    falcon = FalconDiscover(model, random_state=0, n_jobs=1)
    started = time.process_time()
    falcon.fit(X.iloc[known], y.iloc[known])
    fitted = time.process_time()
    found = falcon.examine(X.iloc[later], y.iloc[later])
    found.suspicion()
    ended = time.process_time()
    return {
        "dataset": dataset,
        "model": model,
        "rows": ROWS,
        "fit_seconds": fitted - started,
        "later_rows": len(later),
        "later_seconds": ended - fitted,
        "label_auroc": roc_auc_score(y.iloc[later], found.state.p),
        "events": int(found.events.sum()),
    }


if __name__ == "__main__":
    lines = []
    for dataset in DATASETS:
        for model in sys.argv[1:] or MODELS:
            lines.append(measure(dataset, model))
            print(lines[-1], flush=True)
    pd.DataFrame(lines).to_csv(OUT, index=False, float_format="%.4f")
