"""How often the running check of the risks gives a false alarm, and how soon a true one.

    python benchmarks/calibration_watch.py [results]

Batches of confident predictions have risks drawn anew; their errors are as many as the risks say,
or more, or fewer. After each batch the check is asked. The result is `calibration_watch.csv`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from falcon_discover.monitoring.calibration_watch import CalibrationWatch

RUNS, BATCHES, ROWS = 400, 200, 400
TRUTHS = (1.0, 1.1, 1.2, 1.3, 1.5, 0.7)
# The mean of these risks is 5%: 20 errors a batch.
SHAPE = (1.0, 19.0)


def followed(truth: float, rng: np.random.Generator) -> int:
    """Return the batch at which the alarm goes off, 0 if it never does."""
    watch = CalibrationWatch()
    for _ in range(BATCHES):
        risk = rng.beta(*SHAPE, ROWS)
        errors = int((rng.uniform(size=ROWS) < np.minimum(truth * risk, 1.0)).sum())
        watch = watch.after(errors, float(risk.sum()))
        if watch.alarm:
            return watch.raised_at
    return 0


def main() -> None:
    lines = []
    for truth in TRUTHS:
        rng = np.random.default_rng(0)
        raised = np.array([followed(truth, rng) for _ in range(RUNS)])
        within = {f"within_{n}": float(((raised > 0) & (raised <= n)).mean()) for n in (10, 25, 50)}
        lines.append(
            {
                "errors_per_estimated": truth,
                "runs": RUNS,
                "batches": BATCHES,
                "errors_per_batch": 20,
                **within,
                "ever": float((raised > 0).mean()),
                "median_batch": float(np.median(raised[raised > 0])) if raised.any() else np.nan,
            }
        )
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    found = pd.DataFrame(lines)
    found.to_csv(folder / "calibration_watch.csv", index=False, lineterminator="\n")
    print(found.to_string(index=False))


if __name__ == "__main__":
    main()
