"""What a strong model brings as one more second opinion of a frozen XGBoost model.

    python benchmarks/deep_opinions.py --store bench-store     # results/deep_opinions.csv

The frozen models of `scripts/comparators.py` were fitted on the training rows of a split, so they
have seen neither the validation rows, which `auto` learns from, nor the test rows. The log-odds
that one of them gives to the predicted class join the evidence of XGBoost's predictions, and
`auto` with and without them is compared on the test rows, paired, over the four seeds. LightGBM is
among them: what it brings comes from more training rows than the usual second opinions have, not
from being deep.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from falcon_discover import PAPER, datasets
from falcon_discover.bench import frozen, plan
from falcon_discover.bench.loading import FrozenRuns, Run
from falcon_discover.bench.pooling import Split, auroc_gain
from falcon_discover.bench.store import RunKey
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.datasets.splits import paper_split
from falcon_discover.metrics import false_confidence
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.rankers import inputs
from falcon_discover.rankers.gated import GatedRisk
from falcon_discover.runtime import notices
from falcon_discover.signals.catalogue import Signal
from falcon_discover.signals.extended import OPINION_CLIP
from falcon_discover.signals.state import State

AUDITED = "xgboost"
OPINIONS = [model for model in plan.FROZEN_MODELS if model != AUDITED]
DATASETS = ("adult", "miniboone_subset", "magic_telescope", "spambase", "phoneme")
COLUMN = "opinion_strong"
RECORD = Signal(COLUMN, "opinions", "low", "log-odds", "of a strong model", doubt="it doubts it")
OUT = Path(__file__).parents[1] / "results" / "deep_opinions.csv"


@contextlib.contextmanager
def one_more_input() -> Iterator[None]:
    with mock.patch.object(inputs, "INPUTS", (*inputs.INPUTS, RECORD)):
        yield


def told(state: State, p: Any) -> State:
    """Return a state that knows what another model says of its predictions."""
    said = np.where(state.decision, 1.0, -1.0) * clipped_logit(np.asarray(p), OPINION_CLIP)
    return replace(state, evidence=state.evidence.assign(**{COLUMN: said}))


def scores(audited: State, codes: Any, later: State) -> Any:
    """Return the risk of later rows by `auto`, learned from audited ones."""
    ranker = GatedRisk().fit(audited, audited.decision != codes, PAPER.tau)
    return ranker.score(later)


def split_scores(dataset: str, seed: int, opinions: dict[str, Run]) -> dict[str, Split]:
    """Return `auto` with each opinion beside `auto` without, on the eligible test rows."""
    X, y = datasets.load(dataset)
    labels, table = Labels.from_input(y), Table.from_input(X)
    train, validation, test = paper_split(labels.codes, seed)
    key = RunKey(dataset, seed, AUDITED)
    own = Labels(labels.classes, labels.codes[validation])
    with notices.collected():
        model = frozen.fitted_model(key, table.take(train), labels.codes[train], 1, "cpu")
        audited, later = frozen.frozen_states(
            model, table.take(validation), own, table.take(test), key, 1
        )
        plain = scores(audited, own.codes, later)
        found = {}
        events = false_confidence(labels.codes[test], later.p, PAPER.tau)
        for name, run in opinions.items():
            known, new = run.part("validation"), run.part("test")
            assert (known["row"] == validation).all()
            assert (new["row"] == test).all()
            with one_more_input():
                joined = scores(told(audited, known["p"]), own.codes, told(later, new["p"]))
            whole = Split(test, events, joined, plain)
            found[name] = whole.take(later.eligible(PAPER.tau))
    return found


def measured(store: Path, names: list[str]) -> pd.DataFrame:
    runs, lines = FrozenRuns(store), []
    for dataset in names:
        by_model = {model: runs.runs(dataset, model) for model in OPINIONS}
        splits = [
            split_scores(dataset, seed, {model: of[place] for model, of in by_model.items() if of})
            for place, seed in enumerate(PAPER.seeds)
        ]
        for model in splits[0]:
            gain, low, high = auroc_gain([split[model] for split in splits])
            events = sum(int(split[model].events.sum()) for split in splits)
            line = {"dataset": dataset, "opinion": model, "events": events}
            lines.append(line | {"auroc_gain": gain, "low": low, "high": high})
            print(lines[-1], flush=True)
    return pd.DataFrame(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, default=Path("bench-store"))
    parser.add_argument("--dataset", action="append", help="may be repeated; five of them")
    options = parser.parse_args()
    frame = measured(options.store, options.dataset or list(DATASETS))
    frame.to_csv(OUT, index=False, float_format="%.6f")
