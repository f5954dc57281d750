"""Learning from reviewers: 20 weeks of review lists, with the audit frozen, refitted, or learning.

The base model is frozen. Each week brings a batch; the most suspicious 5% of it are reviewed, and
their true labels are given back. `frozen` never learns. `refit` adds the reviewed rows to the
validation rows and fits the ranker again, as if they were a sample of all rows; `marks alone` fits
it on the reviewed rows only, as the newest labels there are; `learn` is `falcon.learn`. These learn
every four weeks, `learn weekly` every week. Two worlds: labels follow the rule of the audit
throughout; or, in two fifths of the rows, from week 5 to week 12 the odds that a label contradicts
the model grow fivefold.

    FALCON_DISCOVER_DATA=... OMP_NUM_THREADS=1 python benchmarks/learn.py [--tables own]

writes results/learn.csv, one line for each data set, seed, world and method; lines that are there
are kept. `--tables outside` and `--tables unseen` take tables from outside the study
(`benchmarks/outside.py`), and write results/learn_outside.csv and learn_unseen.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import outside
from falcon_discover import FalconDiscover, datasets
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.data.labels import Labels
from falcon_discover.exceptions import DataWarning
from falcon_discover.metrics import review_order, review_size
from falcon_discover.monitoring.learn import learned
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.state import State

OWN = ("adult", "bank_marketing", "magic_telescope", "nomao", "planted")
# Those with two classes, and with rows and confident errors for twenty weeks.
OUTSIDE = (
    "union", "health insurance", "police stops", "Vietnam", "part time", "car accidents", "movies",
    "flights", "hotel rates", "diamonds, price", "youth risk",
)  # fmt: skip
UNSEEN = ("voters", "restaurants", "born abroad")
TABLES = {"own": OWN, "outside": OUTSIDE, "unseen": UNSEEN}
SEEDS = (0, 1)
WORLDS = ("same rule", "changed rule")
# How many weeks a method waits before it learns from the marks since.
METHODS = {"frozen": 4, "marks alone": 4, "refit": 4, "learn": 4, "learn weekly": 1}
WEEKS, BATCH, BUDGET, BINS = 20, 1_000, 0.05, 10
AUDITED, TRAINED = 4_000, 8_000
FIRST, LAST = 4, 12  # between these weeks the rule changes
FIVEFOLD, CHANGED_FROM = 5.0, 0.6
RESULTS = Path("results")
KEY = ["dataset", "seed", "world", "method"]


@dataclass(frozen=True, eq=False)
class Year:
    """An audit, and the rows of all weeks as it measures them."""

    audit: FittedAudit
    state: State
    codes: np.ndarray
    week: np.ndarray
    changing: np.ndarray  # which rows follow another rule in the end

    def labels(self, world: str, seed: int) -> np.ndarray:
        """Return the labels of a world."""
        if world == "same rule":
            return self.codes
        rng = np.random.default_rng(seed)
        progress = np.clip((self.week - FIRST) / (LAST - FIRST), 0.0, 1.0)
        # Right predictions turn wrong so often that the odds of the other label grow fivefold.
        doubt = 1.0 - self.state.confidence
        odds = 1.0 + (FIVEFOLD - 1.0) * progress
        grown = doubt * odds / (1.0 - doubt + doubt * odds)
        chance = (grown - doubt) / (1.0 - doubt)
        right = self.state.decision == self.codes
        turned = self.changing & right & (rng.uniform(size=len(self.codes)) < chance)
        return np.where(turned, 1 - self.codes, self.codes)


def year_of(dataset: str, seed: int) -> Year:
    """Return an audit of a frozen model, and the weeks after it."""
    if dataset == "planted":
        planted = datasets.make_planted(AUDITED + WEEKS * BATCH, random_state=seed)
        X, codes, trained, model = planted.X, planted.y.astype(np.int64), 0, planted.model
    else:
        load = datasets.load if dataset in OWN else outside.rows_of
        X, y = load(dataset)
        codes = Labels.from_input(y).codes.astype(np.int64)
        order = np.random.default_rng(seed).permutation(len(codes))
        X, codes = X.iloc[order].reset_index(drop=True), codes[order]
        trained = min(TRAINED, (len(codes) - AUDITED) // 3)
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        texts = (encoder, make_column_selector(dtype_exclude=np.number))
        model = make_pipeline(
            make_column_transformer(texts, remainder="passthrough"),
            HistGradientBoostingClassifier(max_iter=100, random_state=0),
        ).fit(X[:trained], codes[:trained])
    audited = slice(trained, trained + AUDITED)
    batch = min(BATCH, (len(codes) - trained - AUDITED) // WEEKS)
    after = slice(trained + AUDITED, trained + AUDITED + WEEKS * batch)
    falcon = FalconDiscover(FrozenEstimator(model), random_state=seed)
    falcon.fit(X[audited], codes[audited])
    rows = X[after]
    state = falcon.audit_.state(falcon.new_rows(rows))
    numbers = rows.select_dtypes("number")
    varied = numbers[numbers.nunique().idxmax()].rank(method="first", pct=True).to_numpy()
    week = np.arange(len(rows)) // batch
    return Year(falcon.audit_, state, codes[after], week, varied > CHANGED_FROM)


def refitted(audit: FittedAudit, reviewed: LabelledState) -> FittedAudit:
    """Return the audit fitted again with reviewed rows among the validation rows."""
    before = audit.training.validation
    if before is not None:
        reviewed = joined([before, reviewed])
    return replace(audit, training=TrainingRows(audit.training.oof, reviewed))


def by_marks_alone(audit: FittedAudit, reviewed: LabelledState) -> FittedAudit:
    """Return the audit with a ranker fitted on reviewed rows and nothing else."""
    before = audit.training.oof
    # Rows of a fit have folds; reviewed ones have none.
    parts = [reviewed] if before.state.fold is not None else [before, reviewed]
    return replace(audit, training=TrainingRows(joined(parts)))


def joined(parts: list[LabelledState]) -> LabelledState:
    """Return labelled rows one after another."""
    codes = np.concatenate([part.codes for part in parts])
    return LabelledState(State.concat([part.state for part in parts]), codes)


def unchanged(audit: FittedAudit, reviewed: LabelledState) -> FittedAudit:
    """Return the audit as it is."""
    return audit


TAUGHT: dict[str, Callable[[FittedAudit, LabelledState], FittedAudit]] = {
    "frozen": unchanged,
    "marks alone": by_marks_alone,
    "refit": refitted,
    "learn": learned,
    "learn weekly": learned,
}


def followed(year: Year, codes: np.ndarray, method: str) -> dict[str, float]:
    """Return what a method finds and foresees, summed over the weeks."""
    audit, weeks, marks = year.audit, [], []
    for number in range(WEEKS):
        rows = np.flatnonzero(year.week == number)
        state, known = year.state.take(rows), codes[rows].astype(np.int8)
        suspicion, risk = audit.judge(state)
        assert risk is not None
        events, sure = state.events(known, audit.tau), state.eligible(audit.tau)
        top = review_order(suspicion)[: review_size(len(rows), BUDGET)]
        line = {
            "rows": len(rows),
            "confident": sure.sum(),
            "events": events.sum(),
            "reviewed": len(top),
            "captured": events[top].sum(),
            "expected": risk.sum(),
            "expected_reviewed": risk[top].sum(),
            "log_loss": _log_loss(risk[sure], events[sure]),
        }
        late = {f"late_{name}": line[name] for name in ("events", "captured", "expected")}
        weeks.append(line | (late if number >= WEEKS // 2 else dict.fromkeys(late, 0.0)))
        for place, part in enumerate(np.array_split(np.argsort(risk[sure], kind="stable"), BINS)):
            weeks[-1][f"expected_{place + 1}"] = risk[sure][part].sum()
            weeks[-1][f"events_{place + 1}"] = events[sure][part].sum()
        marks.append(LabelledState(state.take(top), known[top]))
        if (number + 1) % METHODS[method] == 0 and number + 1 < WEEKS:
            audit, marks = TAUGHT[method](audit, joined(marks)), []
    return {name: float(value) for name, value in pd.DataFrame(weeks).sum().items()}


def _log_loss(risk: np.ndarray, events: np.ndarray) -> float:
    p = np.clip(risk, 1e-9, 1 - 1e-9)
    return float(-np.where(events, np.log(p), np.log1p(-p)).sum())


def missing(out: Path, names: tuple[str, ...]) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
    """Return the runs that are not in the results yet, by data set and seed."""
    done = set()
    if out.is_file():
        done = set(map(tuple, pd.read_csv(out)[KEY].to_numpy().tolist()))
    for seed in SEEDS:
        for dataset in names:
            left = [
                (world, method)
                for world in WORLDS
                for method in METHODS
                if (dataset, seed, world, method) not in done
            ]
            if left:
                yield dataset, seed, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", choices=TABLES, default="own")
    given = parser.parse_args()
    names = TABLES[given.tables]
    out = RESULTS / ("learn.csv" if given.tables == "own" else f"learn_{given.tables}.csv")
    warnings.simplefilter("ignore", DataWarning)
    for dataset, seed, left in missing(out, names):
        year = year_of(dataset, seed)
        for world, method in left:
            figures = followed(year, year.labels(world, seed), method)
            line = {"dataset": dataset, "seed": seed, "world": world, "method": method, **figures}
            pd.DataFrame([line]).round(4).to_csv(
                out, mode="a", header=not out.is_file(), index=False
            )
            print(
                f"{dataset} {seed} {world} {method}: captured {line['captured']:.0f} of "
                f"{line['events']:.0f}, expected {line['expected']:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
