"""Whether the estimate of confident errors holds on rows without labels.

    python benchmarks/monitor.py [results] [--work build/monitor] [--tables own]

Each run audits a base model on some rows of a data set and estimates the confident errors of
batches of other rows, whose labels are then counted: random quarters, quarters at one end of a
column, single categories, the quarters with the least support, and all rows. Of some runs the
alarms of
random batches are counted, and of batches that were changed. Finished runs are kept in the work
folder, and a run that is there already is not made again; `--collect` makes none.

`--tables outside` and `--tables unseen` do the same with tables from outside the study, one split
of each (`benchmarks/outside.py`); their results have the word in their names.

The results are `monitor.csv`, one line per batch with at least ten confident errors, found or to be
expected by the audit's rate, and `monitor_alarms.csv`, one line per batch whose alarm was counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import outside
from falcon_discover import DataWarning, FalconDiscover, datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.view import TransformedView
from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.estimate import figures_of
from falcon_discover.monitoring.statistics import BatchStatistics
from falcon_discover.runtime import notices
from falcon_discover.runtime.atomic import atomic_write
from falcon_discover.settings import PAPER

TRAIN, AUDIT, TEST = 4_000, 8_000, 24_000
ROWS = TRAIN + AUDIT + TEST
LEAST_EVENTS = 10
RANDOM, COLUMNS, CATEGORIES = 6, 4, 4
TAU = 0.9
Rows = tuple[pd.DataFrame, np.ndarray]
Run = tuple[str, str, int, str]


def stored(name: str) -> Callable[[int], Rows]:
    def load(seed: int) -> Rows:
        X, y = datasets.load(name)
        return X.reset_index(drop=True), np.asarray(y)

    return load


def generated(X: np.ndarray, y: np.ndarray) -> Rows:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), y


def two(seed: int) -> Rows:
    """Two classes in several clumps, with wrong labels among them."""
    return generated(
        *make_classification(
            ROWS, 12, n_informative=6, n_redundant=2, n_clusters_per_class=3, class_sep=1.0,
            flip_y=0.03, random_state=seed,
        )
    )  # fmt: skip


def four(seed: int) -> Rows:
    """Four classes, each in two clumps, which overlap."""
    return generated(
        *make_classification(
            ROWS, 12, n_informative=6, n_redundant=2, n_classes=4, class_sep=1.5, flip_y=0.03,
            random_state=seed,
        )
    )  # fmt: skip


def bent(seed: int) -> Rows:
    """Three classes by a rule that bends: linear models are sure and wrong in places."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 6))
    odds = np.column_stack(
        [
            2 * X[:, 0] + 2 * np.abs(X[:, 1]),
            2 * X[:, 1] - X[:, 2] ** 2 + 2,
            X[:, 3] * X[:, 4] * 2 - X[:, 0] + 1,
        ]
    )
    return generated(X, (odds + rng.gumbel(size=odds.shape)).argmax(axis=1))


def planted(seed: int) -> Rows:
    """Return rows of which some, by a category and a number, have wrong labels."""
    made = datasets.make_planted(ROWS, shape="categorical", mass=0.1, random_state=seed)
    return made.X, made.y


DATA: dict[str, Callable[[int], Rows]] = {
    "adult": stored("adult"),
    "bank_marketing": stored("bank_marketing"),
    "magic_telescope": stored("magic_telescope"),
    "miniboone_subset": stored("miniboone_subset"),
    "nomao": stored("nomao"),
    "phoneme": stored("phoneme"),
    "spambase": stored("spambase"),
    "breast cancer": lambda seed: generated(*load_breast_cancer(return_X_y=True)),
    "digits": lambda seed: generated(*load_digits(return_X_y=True)),
    "two classes": two,
    "four classes": four,
    "bent rule": bent,
    "planted": planted,
}
MODELS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: LogisticRegression(max_iter=500),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "forest": lambda: RandomForestClassifier(60, min_samples_leaf=2, random_state=0),
}
MODES = ("frozen", "refitted")
# Splits of the small tables: one audit says little, since its batches share its luck.
SEEDS = (0, 1, 2, 3)
SMALL = ("miniboone_subset", "phoneme", "spambase")
TABLES = {
    "own": DATA,
    "outside": {name: outside.loader(name) for name in outside.OUTSIDE},
    "unseen": {name: outside.loader(name) for name in outside.UNSEEN},
}
EVERY = {name: load for tables in TABLES.values() for name, load in tables.items()}


@lru_cache(maxsize=1)
def audited(
    data: str, model: str, seed: int, mode: str
) -> tuple[FalconDiscover, pd.DataFrame, np.ndarray]:
    """Return a fitted audit, and labelled rows that it has not seen."""
    X, y = EVERY[data](seed)
    order = np.random.default_rng(seed).permutation(len(X))
    # Small tables give a third each.
    train, audit = min(TRAIN, len(X) // 3), min(AUDIT, len(X) // 3)
    first, second, third = np.split(order, [train, train + audit])
    pipeline = make_pipeline(TransformedView(), MODELS[model]())
    if mode == "frozen":
        with notices.solving():
            pipeline.fit(X.iloc[first], y[first])
        pipeline = FrozenEstimator(pipeline)
    falcon = FalconDiscover(pipeline, tau=TAU, random_state=seed)
    with notices.solving():
        falcon.fit(X.iloc[second], y[second])
    rows = third[:TEST]
    return falcon, X.iloc[rows].reset_index(drop=True), y[rows]


def batches(
    table: pd.DataFrame, kinds: dict[str, str], signals: pd.DataFrame, seed: int
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Return batches of rows: their kind, what they are, and which rows."""
    rng = np.random.default_rng(seed)
    n = len(table)
    quarter = n // 4
    yield "all", "all", np.arange(n)
    for number in range(RANDOM):
        yield "random", str(number), rng.permutation(n)[:quarter]
    texts = [name for name, kind in kinds.items() if kind == "categorical"]
    numbers = [name for name in kinds if name not in texts and table[name].nunique() > 4]
    # Among equal values chance decides.
    for name in rng.permutation(numbers)[:COLUMNS]:
        values = table[name].fillna(table[name].median()).to_numpy()
        order = np.lexsort((rng.uniform(size=n), values))
        yield "shifted", f"low {name}", order[:quarter]
        yield "shifted", f"high {name}", order[-quarter:]
    for name in rng.permutation(texts)[:CATEGORIES]:
        shares = table[name].value_counts(normalize=True)
        for value in shares.index[(shares >= 0.1) & (shares <= 0.6)][:2]:
            yield "shifted", f"{name} is {value}", np.flatnonzero(table[name] == value)
    for signal, sign in (("support", 1), ("neighbour_distance", -1)):
        order = np.lexsort((rng.uniform(size=n), sign * signals[signal].to_numpy()))
        yield "shifted", f"least by {signal}", order[:quarter]


def run(data: str, model: str, seed: int, mode: str) -> pd.DataFrame:
    """Return one line per batch."""
    falcon, X, y = audited(data, model, seed, mode)
    audit = falcon.audit_
    table = falcon.new_rows(X, warn=False)
    state = audit.state(table)
    codes = Labels.from_input(y, audit.classes).codes
    events = state.events(codes, audit.tau)
    signals = pd.concat([state.signals, state.evidence], axis=1)
    known = Baseline.of(audit)
    lines = []
    for kind, name, rows in batches(table.frame, audit.kinds, signals, seed):
        counted = BatchStatistics.of_state(audit, table.take(rows), state.take(rows))
        found = figures_of(counted, known, 0, PAPER.interval_level)
        usual = known.events / known.eligible * found["eligible"] if known.eligible else 0.0
        if max(int(events[rows].sum()), usual) < LEAST_EVENTS:
            continue
        lines.append(
            {
                "data": data, "model": model, "seed": seed, "mode": mode, "kind": kind,
                "batch": name, "events": int(events[rows].sum()),
                "by_audit_rate": usual, "audit_events": known.events, **found,
            }
        )  # fmt: skip
    return pd.DataFrame(lines)


# One audit of each kind for each data set.
ALARMED = (("logistic regression", "frozen"), ("boosting", "refitted"))
SIZES = (50, 150, 500)
RANDOM_ALARMS, CHANGED_ROWS = 24, 500


def changed(
    table: pd.DataFrame, kinds: dict[str, str], rng: np.random.Generator
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Return rows as a fault upstream, or another population, would change them."""
    texts = [name for name, kind in kinds.items() if kind == "categorical"]
    numbers = [name for name in kinds if name not in texts]
    # Where most values are 0, scaling changes next to nothing.
    full = [name for name in numbers if (table[name].fillna(0) != 0).mean() > 0.5] or numbers
    yield (
        "one column in another unit (x 10)",
        table.assign(**{(name := str(rng.choice(full))): table[name] * 10}),
    )
    yield "all numbers in another unit (x 3)", table.assign(**{n: table[n] * 3 for n in numbers})
    yield (
        "columns in another order",
        table.assign(
            **{a: table[b].to_numpy() for a, b in zip(numbers, np.roll(numbers, 1), strict=True)}
        ),
    )
    yield (
        "each column shuffled by itself",
        table.apply(
            lambda column: pd.Series(rng.permutation(column.to_numpy()), column.index, column.dtype)
        ),
    )
    middle = table[numbers].median()
    spread = table[numbers].std().replace(0, 1)
    yield (
        "another population",
        table.assign(**{n: 2 * middle[n] - table[n] + 2 * spread[n] for n in numbers}),
    )


def alarms(data: str, model: str, seed: int, mode: str) -> pd.DataFrame:
    """Return the alarm of random batches and of changed ones."""
    falcon, X, _ = audited(data, model, seed, mode)
    rng = np.random.default_rng(seed)
    asked = [
        ("random", X.iloc[rng.permutation(len(X))[:size]])
        for size in SIZES * (RANDOM_ALARMS // len(SIZES))
        if size <= len(X)
    ]
    asked += changed(X.iloc[rng.permutation(len(X))[:CHANGED_ROWS]], falcon.audit_.kinds, rng)
    lines = []
    for kind, rows in asked:
        report = falcon.monitor(rows)
        lines.append(
            {
                "data": data, "model": model, "seed": seed, "mode": mode, "kind": kind,
                "rows": report.rows, "alarm": report.alarm, "novel_share": report.novel_share,
                "domain_auroc": report.domain_auroc, "errors": report.errors, "usual": report.usual,
            }
        )  # fmt: skip
    return pd.DataFrame(lines)


def kept_as(work: Path, name: str, one: Run) -> Path:
    """Return where a finished run is."""
    return work / f"{name}-{'-'.join(map(str, one)).replace(' ', '_')}.csv"


def finish(work: Path, name: str, measure: Callable[..., pd.DataFrame], one: Run) -> None:
    """Make a run unless the work folder has it."""
    path = kept_as(work, name, one)
    if path.exists():
        return
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = measure(*one)
    with atomic_write(path) as (written,):
        found.to_csv(written, index=False)
    print(name, *one, f"{time.process_time() - began:.0f} s", flush=True)


def collected(work: Path, name: str, runs: list[Run]) -> pd.DataFrame:
    """Return what the finished ones of some runs measured."""
    paths = [path for path in (kept_as(work, name, one) for one in runs) if path.exists()]
    # A run without a batch of enough events is an empty file.
    return pd.concat([pd.read_csv(path) for path in paths if path.stat().st_size > 9])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", default="results")
    parser.add_argument("--work", default="build/monitor")
    parser.add_argument("--tables", choices=TABLES, default="own")
    parser.add_argument("--collect", action="store_true", help="only collect finished runs")
    given = parser.parse_args()
    work = Path(given.work)
    work.mkdir(parents=True, exist_ok=True)
    names = TABLES[given.tables]
    watched = [(data, model, 0, mode) for model, mode in ALARMED for data in names]
    others = [
        (data, model, seed, mode)
        for seed in SEEDS for mode in MODES for model in MODELS for data in names
        if (seed == 0 or data in SMALL) and (data, model, seed, mode) not in watched
    ]  # fmt: skip
    for one in [] if given.collect else [*watched, *others]:
        # Both measures of one audit, so that it is fitted once.
        if one in watched:
            finish(work, "monitor_alarms", alarms, one)
        finish(work, "monitor", run, one)
    for name in ("monitor", "monitor_alarms"):
        ending = "" if given.tables == "own" else f"_{given.tables}"
        path = Path(given.results) / f"{name}{ending}.csv"
        found = collected(work, name, [*watched, *others])
        found.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
