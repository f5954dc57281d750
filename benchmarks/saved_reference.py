"""What `save(reference=...)` costs: size of the file, and how well confident errors are found.

    python benchmarks/saved_reference.py [SEED ...]     # results/saved_reference.csv; all four

Adult, XGBoost of the library, the paper's split; every figure is of the test rows, scored by the
audit after saving and loading it.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover import PAPER, DataWarning, FalconDiscover, datasets, load, metrics
from falcon_discover.datasets.splits import paper_split
from falcon_discover.storage.archive import Archive

OUT = Path(__file__).parents[1] / "results" / "saved_reference.csv"


def measure(seed: int) -> list[dict[str, Any]]:
    X, y = datasets.load("adult")
    train, validation, test = paper_split(y, seed)
    falcon = FalconDiscover("xgboost", random_state=seed, n_jobs=2)
    falcon.fit(X.iloc[train], y.iloc[train], X_cal=X.iloc[validation], y_cal=y.iloc[validation])
    rows, labels = X.iloc[test], y.iloc[test]
    p = falcon.predict_proba(rows)[:, 1]
    events = metrics.false_confidence(labels, p, PAPER.tau)
    confidence = metrics.confidence(p)
    measured = []
    for kept in ("full", "sample", "none"):
        with tempfile.TemporaryDirectory() as folder:
            path = falcon.save(Path(folder) / "audit.falcon", kept)
            again, manifest = load(path), Archive.open(path).manifest
            size = path.stat().st_size
        with warnings.catch_warnings():
            # Without rows it warns that only gated confidence is left; that is what is measured.
            warnings.simplefilter("ignore", DataWarning)
            started = time.perf_counter()
            score = again.score_samples(rows)
            seconds = time.perf_counter() - started
        measured.append(
            {
                "seed": seed,
                "reference": kept,
                "rows": manifest["reference"]["rows"],
                "file_mb": size / 1e6,
                "events": int(events.sum()),
                "eligible_auroc": metrics.eligible_auroc(events, score, confidence, PAPER.tau),
                "capture_20": metrics.capture_at(events, score, PAPER.main_budget),
                "capture_05": metrics.capture_at(events, score, 0.05),
                "seconds": seconds,
            }
        )
    return measured


if __name__ == "__main__":
    seeds = [int(word) for word in sys.argv[1:]] or PAPER.seeds
    found = pd.DataFrame([row for seed in seeds for row in measure(seed)])
    found.to_csv(OUT, index=False, float_format="%.4f")
    means = found.drop(columns="seed").groupby("reference", sort=False).mean()
    print(means.round(3).to_string())
