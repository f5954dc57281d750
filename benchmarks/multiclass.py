"""What `auto` finds with three to ten classes, beside gated confidence, and whether its risk holds.

    python benchmarks/multiclass.py [results] [--work build/multiclass]

Each run fits an audit of a base model on some rows and judges others; of the small real sets all
rows, each out-of-fold. Finished runs are kept in the work folder, and a run that is there already
is not made again. The results are `multiclass.csv`, one line per run and threshold, and
`multiclass_risk.csv`, predicted and observed confident errors by tenths of the risk: `low` and
`high` bound the observed rate as if all rows were independent, `reach` is how far the two rates may
be apart if rows of one draw of the data go together.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from falcon_discover import DataWarning, FalconDiscover, datasets
from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.intervals import auroc_difference, share_interval

FIT, TEST = 1_200, 2_000
SEEDS = (0, 1)
TAUS = (0.8, 0.9)
TENTHS = 10
Rows = tuple[pd.DataFrame, np.ndarray]


def generated(X: np.ndarray, y: np.ndarray) -> Rows:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), y


def overlapping(seed: int) -> Rows:
    """Four classes, each in two clumps, which overlap."""
    return generated(
        *make_classification(
            FIT + TEST, 12, n_informative=6, n_redundant=2, n_classes=4, class_sep=1.5,
            flip_y=0.02, random_state=seed,
        )
    )  # fmt: skip


def eight(seed: int) -> Rows:
    """Eight classes of different sizes."""
    weights = [0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03]
    return generated(
        *make_classification(
            FIT + TEST, 15, n_informative=8, n_classes=8, n_clusters_per_class=1, class_sep=1.2,
            weights=weights, flip_y=0.02, random_state=seed,
        )
    )  # fmt: skip


def noisy_blobs(seed: int) -> Rows:
    """Five round classes; a tenth of the labels of two of them are those of another."""
    X, y = make_blobs(FIT + TEST, 5, centers=5, cluster_std=3.0, random_state=seed)
    rng = np.random.default_rng(seed)
    wrong = (y < 2) & (rng.uniform(size=len(y)) < 0.1)
    return generated(X, np.where(wrong, (y + 2) % 5, y))


def bent(seed: int) -> Rows:
    """Three classes by a rule that bends: linear models are sure and wrong in places."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(FIT + TEST, 6))
    odds = np.column_stack(
        [
            2 * X[:, 0] + 2 * np.abs(X[:, 1]),
            2 * X[:, 1] - X[:, 2] ** 2 + 2,
            X[:, 3] * X[:, 4] * 2 - X[:, 0] + 1,
        ]
    )
    return generated(X, (odds + rng.gumbel(size=odds.shape)).argmax(axis=1))


def digits(seed: int) -> Rows:
    """Return the ten digits by every third pixel."""
    X, y = load_digits(return_X_y=True)
    return generated(X[:, ::3], y)


def iris(seed: int) -> Rows:
    return generated(*load_iris(return_X_y=True))


def wine(seed: int) -> Rows:
    X, y = load_wine(return_X_y=True)
    return generated(X[:, :4], y)


def marital(seed: int) -> Rows:
    """Never married, married or no longer, by the other columns of Adult."""
    X, income = datasets.load("adult")
    rows = np.random.default_rng(seed).permutation(len(X))[: FIT + TEST]
    table = X.iloc[rows].reset_index(drop=True)
    status = table["marital-status"].astype(str)
    kind = np.where(
        status.str.startswith("Married"),
        "married",
        np.where(status == "Never-married", "never", "no longer"),
    )
    table = table.drop(columns=["marital-status", "relationship"])
    return table.assign(income=np.asarray(income)[rows]), kind


# The data, and whether there are enough rows to judge others than those of the fit.
DATA: dict[str, tuple[Callable[[int], Rows], bool]] = {
    "iris": (iris, False),
    "wine": (wine, False),
    "digits": (digits, False),
    "adult, marital status": (marital, True),
    "overlapping": (overlapping, True),
    "bent": (bent, True),
    "blobs with wrong labels": (noisy_blobs, True),
    "eight classes": (eight, True),
}


def models(seed: int) -> dict[str, Any]:
    encoded = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False),
         make_column_selector(dtype_exclude="number")),
    )  # fmt: skip
    return {
        "logistic regression": make_pipeline(encoded, LogisticRegression(max_iter=500)),
        "boosting": make_pipeline(
            encoded, HistGradientBoostingClassifier(max_iter=30, random_state=seed)
        ),
        "random forest": make_pipeline(
            encoded, RandomForestClassifier(40, min_samples_leaf=2, random_state=seed)
        ),
    }


def run(name: str, model: str, seed: int) -> pd.DataFrame:
    """Return the eligible rows that were judged: confidence, suspicion, risk, event.

    The threshold decides what the ranker learns, not what the audit measures: one fit serves all.
    """
    make, held_out = DATA[name]
    X, y = make(seed)
    falcon = FalconDiscover(models(seed)[model], tau=TAUS[0], random_state=seed)
    if held_out:
        found = falcon.fit(X[:FIT], y[:FIT]).examine(X[FIT:], y[FIT:])
    else:
        found = falcon.fit(X, y).examine()
    parts = []
    for tau in TAUS:
        ranker = falcon.audit_.ranker_of("auto", tau)
        rows = pd.DataFrame(
            {
                "tau": tau,
                "confidence": found.state.confidence,
                "suspicion": found.score("auto", tau),
                "risk": ranker.risk(found.state) if held_out else ranker.held_out_risk_,
                "event": found.state.events(found.labels, tau),
                "classes": len(falcon.classes_),
                "rows": len(found.state),
            }
        )
        parts.append(rows[found.state.eligible(tau)])
    return pd.concat(parts, ignore_index=True)


def line(key: dict[str, Any], rows: pd.DataFrame) -> dict[str, Any]:
    events, sure = rows["event"].to_numpy(), rows["confidence"].to_numpy()
    score = rows["suspicion"].to_numpy()
    gain, low, high = auroc_difference(events, score, -sure)
    return {
        **key,
        "classes": int(rows["classes"].iloc[0]) if len(rows) else 0,
        "rows": int(rows["rows"].iloc[0]) if len(rows) else 0,
        "eligible": len(rows),
        "events": int(events.sum()),
        "gated_confidence": round(fc_auroc(events, -sure), 4),
        "auto": round(fc_auroc(events, score), 4),
        "gain": round(gain, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "predicted": round(float(rows["risk"].sum()), 2),
        "tenths_held": sum(
            tenth["low"] <= tenth["predicted"] <= tenth["high"] for tenth in by_tenths({}, rows)
        ),
    }


def by_tenths(key: dict[str, Any], rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Return predicted and observed confident errors by tenths of the risk."""
    ordered = rows.sort_values("risk", kind="stable")
    for tenth, part in enumerate(np.array_split(np.arange(len(ordered)), TENTHS), start=1):
        own = ordered.iloc[part]
        if own.empty:
            continue
        events = int(own["event"].sum())
        low, high = share_interval(events, len(own))
        yield {
            **key,
            "tenth": tenth,
            "rows": len(own),
            "events": events,
            "predicted": round(float(own["risk"].mean()), 5),
            "observed": round(events / len(own), 5),
            "low": round(low, 5),
            "high": round(high, 5),
            "reach": round(reach(own), 5),
        }


def reach(rows: pd.DataFrame) -> float:
    """Return how far predicted and observed rates may be apart by chance, 95%.

    Rows of one draw of the data were judged by audits of the same rows and go together.
    """
    apart = (rows["event"] - rows["risk"]).groupby([rows["data"], rows["seed"]]).sum()
    if len(apart) < 2:
        return float("nan")
    wide = stats.t.ppf(0.975, len(apart) - 1) * np.sqrt((apart**2).sum())
    return float(wide / len(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("results"))
    parser.add_argument("--work", type=Path, default=Path("build/multiclass"))
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", DataWarning)
    lines, kept = [], []
    for seed in SEEDS:
        for name, (_, held_out) in DATA.items():
            if seed and not held_out:
                # The same rows once more would say nothing new.
                continue
            for model in models(seed):
                key = {"data": name, "model": model, "seed": seed}
                file = given.work / ("-".join(map(str, key.values())) + ".parquet")
                started = time.perf_counter()
                if not file.exists():
                    run(name, model, seed).to_parquet(file)
                took = round(time.perf_counter() - started, 1)
                found = pd.read_parquet(file).assign(**key)
                kept.append(found)
                for tau in TAUS:
                    lines.append(line({**key, "tau": tau}, found[found["tau"] == tau]))
                    print({**lines[-1], "seconds": took}, flush=True)
    pd.DataFrame(lines).to_csv(given.out / "multiclass.csv", index=False)
    every = pd.concat(kept)
    tenths = []
    for tau in TAUS:
        judged = every[every["tau"] == tau]
        for model in models(0):
            own = judged[judged["model"] == model]
            tenths += by_tenths({"model": model, "tau": tau}, own)
        tenths += by_tenths({"model": "all three", "tau": tau}, judged)
    pd.DataFrame(tenths).to_csv(given.out / "multiclass_risk.csv", index=False)


if __name__ == "__main__":
    main()
