"""Beyond the paper, first part: the states of all rows of a split, for rankers to learn from.

One run is a data set, a seed and a backbone, as in `bench.run`. It stores the extended state of
the training rows (out-of-fold), of the validation rows and of the test rows, so that any ranker
can be tried afterwards without a model.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover import datasets
from falcon_discover.bench.memory import peak_memory_mb
from falcon_discover.bench.run import Stopwatch, versions
from falcon_discover.bench.store import RunKey
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.models.crossfit import select_backbone
from falcon_discover.models.folds import Folds, make_folds
from falcon_discover.settings import PAPER
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.catalogue import SIGNALS
from falcon_discover.signals.opinions import CrossOpinions, Opinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import State

APART = "apart:"
PARTS = ("oof", "validation", "test")


def settings() -> dict[str, Any]:
    """Return everything that decides the stored states."""
    return {**PAPER.to_dict(), "states_version": 3}


def measure_states(key: RunKey, n_jobs: int) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the states and the report of one run."""
    watch = Stopwatch()
    X, y = datasets.load(key.dataset)
    labels, table = Labels.from_input(y), Table.from_input(X)
    train, validation, test = paper_split(labels.codes, key.seed)
    known, own = table.take(train), Labels(labels.classes, labels.codes[train])
    folds = make_folds(PAPER.n_folds, own, key.seed)
    with watch.stage("cross-fitting"):
        base = select_backbone(
            [key.backbone],
            known,
            own,
            folds,
            seed=key.seed,
            n_jobs=n_jobs,
            reference_scores=False,
        )
    builder = StateBuilder(seed=key.seed)
    with watch.stage("opinions"):
        opinions, of_all = _opinions(known, own, folds, key.seed, n_jobs)
    with watch.stage("training states"):
        oof = builder.cross_fitted_state(
            known,
            own.codes,
            base.p,
            base.reference_p,
            folds,
            base.fold_probes,
            own_view=True,
            opinions=opinions,
            n_jobs=n_jobs,
        )
    with watch.stage("states"):
        reference = Reference.build(known, own.codes, base.p, base.probe, n_jobs=n_jobs)
        reference = replace(reference, opinions=of_all)
        held_out = {
            "validation": builder.build(table.take(validation), reference),
            "test": builder.build(table.take(test), reference),
        }
    tables = {"oof": _frame(oof, train, own.codes).drop(columns="prediction_agreement")}
    for name, rows in (("validation", validation), ("test", test)):
        tables[name] = _frame(held_out[name], rows, labels.codes[rows])
    report = {
        "oof_auroc": base.auroc[key.backbone],
        "seconds": watch.seconds,
        "peak_memory_mb": peak_memory_mb(),
        "versions": versions(key.backbone),
    }
    return tables, report


# The second opinions of the last split: they are the same for all backbones, which follow each
# other. By the rows themselves; a name may stand for other data in another folder.
_last: dict[bytes, tuple[CrossOpinions, Opinions]] = {}


def _opinions(
    table: Table, labels: Labels, folds: Folds, seed: int, n_jobs: int
) -> tuple[CrossOpinions, Opinions]:
    """Return what second opinions say of training rows, and those fitted on all of them."""
    content = table.row_hashes().tobytes() + labels.codes.tobytes() + str(seed).encode()
    key = hashlib.sha256(content).digest()
    if key not in _last:
        rows = TransformedView().fit(table).transform(table)
        found = (
            CrossOpinions.fit(table, labels.codes, folds, seed, n_jobs),
            Opinions.fit(rows, labels.codes, seed=seed, n_jobs=n_jobs),
        )
        _last.clear()
        _last[key] = found
        return found
    return _last[key]


def _frame(state: State, rows: Any, codes: Any) -> pd.DataFrame:
    known = pd.DataFrame({"row": rows, "label": codes, "p": state.p})
    signals = pd.concat([state.signals, state.evidence], axis=1).astype(np.float32)
    if state.apart is None:
        return pd.concat([known, signals], axis=1)
    return pd.concat([known.assign(fold=state.fold), signals, state.apart.frame(APART)], axis=1)


def load_state(frame: pd.DataFrame, features: Any) -> State:
    """Return a stored state, with the features of its rows."""
    apart = [name for name in frame.columns if name.startswith(APART)]
    numbers = frame.drop(columns=["row", "label", "p", "fold", *apart], errors="ignore")
    numbers = numbers.astype(np.float64)
    from_paper = [name for name in SIGNALS if name in numbers.columns]
    return State(
        frame["p"].to_numpy(),
        numbers[from_paper],
        numbers.drop(columns=from_paper),
        frame["fold"].to_numpy() if "fold" in frame else None,
        features,
        Apart.from_frame(frame[apart].rename(columns=lambda name: name.removeprefix(APART))),
    )


def split_features(dataset: str, seed: int) -> dict[str, Any]:
    """Return the transformed features of each part of a split."""
    X, y = datasets.load(dataset)
    codes, table = Labels.from_input(y).codes, Table.from_input(X)
    parts = dict(zip(PARTS, paper_split(codes, seed), strict=True))
    view = TransformedView().fit(table.take(parts["oof"]))
    return {name: view.transform(table.take(rows)) for name, rows in parts.items()}
