"""Whether `label_doubt()` tells labels that were flipped on purpose from errors of the model.

    OMP_NUM_THREADS=1 python benchmarks/label_doubt.py [results] [--work build/label_doubt]

Each run flips a known share of the labels of a table, audits a base model on it out-of-fold, and
asks which of its confident errors are wrong labels. Audits are kept in the work folder, saved as
`falcon.save` does, and one that is there already is not made again. The results are
`label_doubt.csv`, one line per run, and `label_doubt_bins.csv`, doubts against flipped labels.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from falcon_discover import DataWarning, FalconDiscover, datasets, load
from falcon_discover.audit.finding import Finding

ROWS = 3_000
MODELS = ("hist_gradient_boosting", "logistic_regression")
REAL = ("adult", "magic_telescope", "bank_marketing", "phoneme", "spambase")
EDGES = np.array([0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
Rows = tuple[pd.DataFrame, np.ndarray]


def bent(seed: int) -> Rows:
    """Return two classes by a rule that bends, with an outcome that chance has a part in."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 10))
    odds = 2.2 * (X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.6 * X[:, 4])
    return _named(X), (odds + rng.logistic(size=ROWS) > 0).astype(int)


def three(seed: int) -> Rows:
    """Return three classes by a rule that bends."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 8))
    odds = np.column_stack(
        [X[:, 0] + X[:, 1] * X[:, 2], X[:, 3] - X[:, 0], 0.5 + X[:, 4] * X[:, 5]]
    )
    return _named(X), (2.5 * odds + rng.gumbel(size=odds.shape)).argmax(axis=1)


def _named(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


def real(name: str, seed: int) -> Rows:
    X, y = datasets.load(name)
    rows = np.random.default_rng(seed).permutation(len(X))[:ROWS]
    return X.iloc[rows].reset_index(drop=True), pd.factorize(np.asarray(y)[rows], sort=True)[0]


GENERATED = {"bent": bent, "three": three}


@dataclass(frozen=True)
class Run:
    """One table with so many labels flipped, audited with one base model."""

    data: str
    model: str
    noise: float
    seed: int

    @property
    def name(self) -> str:
        """What its audit is kept as."""
        return f"{self.data}-{self.model}-{self.noise:g}-{self.seed}"

    def table(self) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """Return the rows, their labels with some flipped, and which are."""
        make = GENERATED.get(self.data)
        X, y = make(self.seed) if make else real(self.data, self.seed)
        rng = np.random.default_rng([self.seed, 18])
        flipped = np.zeros(len(y), dtype=bool)
        flipped[rng.permutation(len(y))[: round(self.noise * len(y))]] = True
        away = rng.integers(1, y.max() + 1, len(y))
        return X, np.where(flipped, (y + away) % (y.max() + 1), y), flipped

    def audited(self, work: Path) -> tuple[Finding, np.ndarray]:
        """Return the audit of the table, made once, and which labels were flipped."""
        path = work / f"{self.name}.falcon"
        X, y, flipped = self.table()
        if not path.exists():
            started = time.perf_counter()
            falcon = FalconDiscover(self.model, random_state=self.seed, n_jobs=1).fit(X, y)
            falcon.examine().risk()
            falcon.save(path, reference="full")
            print(f"{self.name} {time.perf_counter() - started:.0f} s", flush=True)
        return load(path).examine(), flipped


def runs() -> Iterator[Run]:
    """Yield the runs: with 1% of the labels flipped all, with none and 3% those of some tables."""
    every = (*REAL, *GENERATED)
    few = ("adult", "magic_telescope", "phoneme", *GENERATED)
    for model in MODELS:
        yield from (Run(data, model, 0.01, 0) for data in every)
    for noise in (0.0, 0.03):
        yield from (Run(data, MODELS[0], noise, 0) for data in few)


def measured(run: Run, found: Finding, flipped: np.ndarray) -> tuple[dict, pd.DataFrame]:
    """Return the figures of a run, and doubt and truth of each contradicting label."""
    noise = found.label_noise()
    table = noise.frame()
    rows = table["row"].to_numpy()
    truth, state = flipped[rows], found.state
    line = {
        **vars(run),
        "rows": len(state),
        "eligible": int(state.eligible(found.tau).sum()),
        "errors": len(rows),
        "flipped": int(truth.sum()),
        "expected": noise.expected,
        "low": noise.low,
        "high": noise.high,
        "rate": noise.rate,
        "label_doubt": auroc(truth, table["label_doubt"].to_numpy()),
    }
    for name, score in comparators(found, rows).items():
        line[name] = auroc(truth, score)
    pairs = {"noise": run.noise, "doubt": table["label_doubt"].to_numpy(), "flipped": truth}
    return line, pd.DataFrame(pairs)


def comparators(found: Finding, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return other scores of the same rows, from the same out-of-fold probabilities.

    `self_confidence` and `normalized_margin` are the label quality scores by which cleanlab ranks
    label issues, by its formulas: `p[y]`, and `p[y]` minus the largest of the other classes' p.
    """
    state, codes = found.state.take(rows), found.labels[rows].astype(int)
    p = state.p if state.p.ndim == 2 else np.column_stack([1 - state.p, state.p])
    given = np.take_along_axis(p, codes[:, None], axis=1)[:, 0]
    others = p.copy()
    np.put_along_axis(others, codes[:, None], -np.inf, axis=1)
    return {
        "confidence": state.confidence,
        "self_confidence": -given,
        "normalized_margin": others.max(axis=1) - given,
        "opinion_mean": state.column("opinion_mean"),
        "neighbours": state.column("labelled_as_predicted"),
    }


def auroc(truth: np.ndarray, score: np.ndarray) -> float:
    return float(roc_auc_score(truth, score)) if 0 < truth.sum() < len(truth) else np.nan


def pooled(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return doubts against flipped labels, by share of flipped labels and size of the doubt."""
    place = np.clip(np.searchsorted(EDGES, pairs["doubt"], side="right") - 1, 0, len(EDGES) - 2)
    pairs = pairs.assign(**{"from": EDGES[place], "to": EDGES[place + 1]})
    groups = pairs.groupby(["noise", "from", "to"])
    return groups.agg(
        labels=("doubt", "size"), expected=("doubt", "sum"), flipped=("flipped", "sum")
    ).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    parser.add_argument("--work", type=Path, default=Path("build/label_doubt"))
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", DataWarning)
    lines, bins = [], []
    for run in runs():
        line, doubts = measured(run, *run.audited(given.work))
        lines.append(line)
        bins.append(doubts)
    pd.DataFrame(lines).to_csv(given.results / "label_doubt.csv", index=False, float_format="%.5g")
    pooled(pd.concat(bins)).to_csv(
        given.results / "label_doubt_bins.csv", index=False, float_format="%.5g"
    )


if __name__ == "__main__":
    main()
