"""Stronger predictors: a model fitted once and frozen, and what an audit finds in it.

A run fits a model on the training rows of a split and audits it as `FalconDiscover` does with a
`FrozenEstimator`: the validation rows are the audit rows, the test rows are new. No fold model is
fitted, so a model that takes minutes costs one fit. Trees are run the same way beside the deep
models, so that like is compared with like.
"""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline

from falcon_discover import datasets, rankers
from falcon_discover.bench import plan
from falcon_discover.bench.memory import peak_memory_mb
from falcon_discover.bench.run import Stopwatch, versions
from falcon_discover.bench.scores import learned_scores, state_of
from falcon_discover.bench.store import RunKey
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.metrics import false_confidence
from falcon_discover.models import library
from falcon_discover.models.crossfit import frozen_fit
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.models.folds import make_folds
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.rankers.trust import TrustScore, trust_ratio
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import FloatArray
from falcon_discover.settings import PAPER
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.certainty import certainty_signals
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import State

# Where a run happens decides nothing that a run should be compared by.
_PLACE = ("device", "n_jobs", "random_state")
Tables = tuple[dict[str, pd.DataFrame], dict[str, Any]]


def settings() -> dict[str, Any]:
    """Return everything that decides the stored runs."""
    deep = {name: model.make(0, 1).get_params() for name, model in library.DEEP.items()}
    return {
        **PAPER.to_dict(),
        "models": {
            name: {key: value for key, value in params.items() if key not in _PLACE}
            for name, params in deep.items()
        },
        "frozen_version": 1,
    }


def audit_frozen(key: RunKey, n_jobs: int, device: str = "auto") -> Tables:
    """Return the tables and the report of one run.

    Parameters
    ----------
    device : where a deep model is fitted and asked
    """
    watch = Stopwatch()
    X, y = datasets.load(key.dataset)
    labels, table = Labels.from_input(y), Table.from_input(X)
    train, validation, test = paper_split(labels.codes, key.seed)
    known = table.take(train)
    with watch.stage("fit"):
        model = fitted_model(key, known, labels.codes[train], n_jobs, device)
    own = Labels(labels.classes, labels.codes[validation])
    with watch.stage("states"), notices.collected():
        audited, later = frozen_states(
            model, table.take(validation), own, table.take(test), key, n_jobs
        )
    rows = pd.concat(
        [
            _frame(audited, "validation", validation, own.codes),
            _frame(later, "test", test, labels.codes[test]),
        ],
        ignore_index=True,
    )
    with watch.stage("scores"), notices.collected():
        scores = _scores(complete(rows), audited, later, key.seed)
        scores["trustscore"] = -trust_ratio(
            _class_distances(known, labels.codes[train], table.take(rows["row"]), n_jobs),
            np.concatenate([audited.decision, later.decision]),
        )
    right = later.decision == labels.codes[test]
    report = {
        "label_auroc": float(roc_auc_score(labels.codes[test], later.p)),
        "accuracy": float(right.mean()),
        "best_epoch": getattr(model, "best_epoch_", None),
        "device": _device(model, device),
        "seconds": watch.seconds,
        "peak_memory_mb": peak_memory_mb(),
        "versions": versions(key.backbone),
        "python": platform.python_version(),
    }
    scores = scores.astype(np.float32)
    return {"rows": rows, "scores": pd.concat([rows[["row"]], scores], axis=1)}, report


def fitted_model(key: RunKey, table: Table, codes: Any, n_jobs: int, device: str) -> Any:
    """Return a model of the library, fitted on these rows."""
    made = library.known(key.backbone)
    if isinstance(made, library.TableModel):
        model = made.make(key.seed, n_jobs).set_params(device=device)
        return model.fit(table.native, codes)
    view = TransformedView(made.dtype).fit(table)
    rows = view.transform(table)
    model = fit_backbone(key.backbone, rows, codes, seed=key.seed, n_jobs=n_jobs)
    return Pipeline([("view", view), ("model", model)])


def frozen_states(
    model: Any, audit: Table, labels: Labels, new: Table, key: RunKey, n_jobs: int
) -> tuple[State, State]:
    """Return the states of the audit rows, each without its fold, and of the new ones."""
    folds = make_folds(PAPER.n_folds, labels, key.seed)
    base = frozen_fit(model, audit, labels, folds)
    builder = StateBuilder(seed=key.seed)
    audited = builder.cross_fitted_state(
        audit,
        labels.codes,
        base.p,
        base.reference_p,
        folds,
        base.fold_probes,
        own_view=False,
        opinions=CrossOpinions.fit(audit, labels.codes, folds, key.seed, n_jobs),
        n_jobs=n_jobs,
    )
    reference = Reference.build(
        audit,
        labels.codes,
        base.p,
        base.probe,
        own_view=False,
        opinions_seed=key.seed,
        n_jobs=n_jobs,
    )
    return replace(audited, features=reference.coordinates), builder.build(new, reference)


def _scores(rows: pd.DataFrame, audited: State, later: State, seed: int) -> pd.DataFrame:
    """Return every ranker's score; none of an audit row comes from a ranker that saw it."""
    own = (rows["split"] == "validation").to_numpy()
    labels, state = rows["label"].to_numpy(), state_of(rows)
    known = TrainingRows(LabelledState(audited, labels[own]))
    mark = plan.at(PAPER.tau)
    columns: dict[str, FloatArray] = {
        "s_stab": rankers.make("s_stab").score(state),
        "s_disc": rankers.make("s_disc").score(state),
        f"learned_{mark}": learned_scores(
            state, false_confidence(labels, state.p, PAPER.tau), own, PAPER.tau, seed
        ),
        f"auto_{mark}": np.concatenate(
            [
                known.oof_scores("auto", PAPER.tau),
                known.ranker("auto", PAPER.tau).score(later),
            ]
        ),
    }
    return pd.DataFrame(columns)


def _class_distances(known: Table, codes: Any, rows: Table, n_jobs: int) -> FloatArray:
    """Return what TrustScore needs: like the paper's study, it looks at the training rows."""
    view = TransformedView().fit(known)
    return TrustScore(view.transform(known), codes, n_jobs).class_distances(view.transform(rows))


def _frame(state: State, split: str, rows: Any, codes: Any) -> pd.DataFrame:
    """Return what is stored of rows; native certainty follows from p."""
    known = pd.DataFrame({"row": rows, "split": split, "label": codes, "p": state.p})
    signals = state.signals.drop(columns=list(plan.CERTAINTY)).astype(np.float32)
    return pd.concat([known, signals.reset_index(drop=True)], axis=1)


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return stored rows with all the paper's signals."""
    return rows.assign(**certainty_signals(rows["p"].to_numpy()))


def _device(model: Any, device: str) -> str:
    if not hasattr(model, "device"):
        return "cpu"
    from falcon_discover.models.deep.training import chosen_device

    return chosen_device(device)
