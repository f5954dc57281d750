"""Whether predictions without a model gain by asking how stable the second opinions are.

    python benchmarks/precomputed_stability.py     # results/precomputed_stability.csv

Without a model the stability signals are absent. Second opinions are models too: a row is mixed
with its neighbours in the transformed view, and they are asked. Here `auto` learns once with and
once without how the log-odds that the opinions give to the decided class move, and how often an
opinion changes its mind. Both rankings are judged on rows that nobody has seen, by eligible AUROC.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.stats import t
from sklearn.model_selection import train_test_split

from falcon_discover import PAPER, FalconDiscover, datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.metrics import fc_auroc
from falcon_discover.metrics.odds import clipped_logit
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.models.folds import make_folds
from falcon_discover.models.proba import proba
from falcon_discover.rankers import GatedRisk, inputs
from falcon_discover.signals.catalogue import INPUTS, Signal
from falcon_discover.signals.extended import OPINION_CLIP
from falcon_discover.signals.neighbours.index import LabelledIndex
from falcon_discover.signals.opinions import Opinions
from falcon_discover.signals.state import State

OUT = Path(__file__).parents[1] / "results" / "precomputed_stability.csv"
SETS = (
    "adult", "bank_marketing", "magic_telescope", "nomao", "spambase", "phoneme",
    "miniboone_subset",
)  # fmt: skip
MODELS = ("xgboost", "logistic_regression")
SEEDS = PAPER.seeds[:3]
AUDITED, JUDGED, FOLDS = 1_500, 6_000, 3
NEW = tuple(
    Signal(name, "opinions", direction, "log-odds", "", doubt="")
    for name, direction in (
        ("opinion_drift", "low"),
        ("opinion_worst_drift", "low"),
        ("opinion_flips", "high"),
    )
)


def stability(
    opinions: Opinions,
    rows: np.ndarray,
    others: np.ndarray,
    labels: np.ndarray,
    decision: np.ndarray,
) -> pd.DataFrame:
    """Return how the opinions on rows move when these are mixed with their neighbours."""
    near = LabelledIndex(others, labels, 1, 2).query(rows, PAPER.n_mix_neighbors).rows
    sign = np.where(decision, 1.0, -1.0)[:, None]
    before = opinions.predict(rows)
    moves, flips = [], []
    for neighbour in range(near.shape[1]):
        for weight in PAPER.mix:
            mixed = rows + np.float32(weight) * (others[near[:, neighbour]] - rows)
            after = opinions.predict(mixed)
            odds = [clipped_logit(said, OPINION_CLIP) for said in (after, before)]
            moves.append((sign * (odds[0] - odds[1])).mean(axis=1))
            flips.append(((after >= 0.5) != (before >= 0.5)).mean(axis=1))
    drift = np.column_stack(moves)
    return pd.DataFrame(
        {
            "opinion_drift": drift.mean(axis=1),
            "opinion_worst_drift": drift.min(axis=1),
            "opinion_flips": np.mean(flips, axis=0),
        }
    )


def cell(name: str, model: str, seed: int) -> dict[str, object]:
    """Return the eligible AUROC of `auto` with and without the opinions' stability."""
    X, y = datasets.load(name)
    y = np.asarray(pd.factorize(y, sort=True)[0])
    every = np.arange(len(y))
    rest, audited = train_test_split(every, test_size=AUDITED, stratify=y, random_state=seed)
    train, judged = train_test_split(rest, test_size=0.5, stratify=y[rest], random_state=seed)
    train, judged = train[:20_000], judged[:JUDGED]
    view = TransformedView().fit(Table.from_input(X.iloc[train]))
    base = fit_backbone(
        model, view.transform(Table.from_input(X.iloc[train])), y[train], seed=seed, n_jobs=1
    )

    def scores(rows: np.ndarray) -> np.ndarray:
        return np.asarray(proba(base, view.transform(Table.from_input(X.iloc[rows]))))[:, 1]

    falcon = FalconDiscover("precomputed", cv=FOLDS, random_state=seed, n_jobs=1)
    falcon.fit(X.iloc[audited], y[audited], proba=scores(audited))
    own = falcon.examine()
    new = falcon.examine(X.iloc[judged], y[judged], proba=scores(judged))
    reference, labels = falcon.audit_.reference, own.labels
    rows = reference.coordinates
    known = pd.DataFrame(index=range(len(rows)), columns=[s.name for s in NEW], dtype=float)
    for others, held_out in make_folds(FOLDS, Labels.from_input(labels), seed):
        opinions = Opinions.fit(rows[others], labels[others], seed=seed, n_jobs=1)
        decision = own.state.decision[held_out]
        found = stability(opinions, rows[held_out], rows[others], labels[others], decision)
        known.iloc[held_out] = found.to_numpy()
    assert new.state.features is not None
    later = stability(reference.opinions, new.state.features, rows, labels, new.state.decision)
    wrong = own.state.decision != labels
    auroc = {}
    for what, signals in (("without", INPUTS), ("with", (*INPUTS, *NEW))):
        with patch.object(inputs, "INPUTS", signals):
            ranker = GatedRisk(random_state=seed).fit(_more(own.state, known), wrong)
            score = ranker.score(_more(new.state, later))
        sure = new.state.eligible(PAPER.tau)
        auroc[what] = fc_auroc(new.events[sure], score[sure])
    return {
        "data": name, "model": model, "seed": seed, "events": int(own.events.sum()),
        "judged_events": int(new.events.sum()), **auroc, "gain": auroc["with"] - auroc["without"],
    }  # fmt: skip


def _more(state: State, columns: pd.DataFrame) -> State:
    return replace(state, evidence=pd.concat([state.evidence, columns], axis=1))


def main() -> None:
    """Measure every cell that is not there yet, and print the gains."""
    warnings.simplefilter("ignore")
    lines = pd.read_csv(OUT).to_dict("records") if OUT.exists() else []
    done = {(line["data"], line["model"], line["seed"]) for line in lines}
    for seed in SEEDS:
        for name in SETS:
            for model in MODELS:
                if (name, model, seed) not in done:
                    lines.append(cell(name, model, seed))
                    pd.DataFrame(lines).to_csv(OUT, index=False, float_format="%.5f")
                    print(lines[-1], flush=True)
    table = pd.DataFrame(lines).dropna()
    print(table.pivot_table("gain", "data", "model").round(4).to_string())
    gains = table.groupby(["data", "model"])["gain"].mean()
    error = gains.std(ddof=1) / np.sqrt(len(gains)) * t.ppf(0.975, len(gains) - 1)
    print(f"mean gain {gains.mean():+.4f} +- {error:.4f} over {len(gains)} tables", file=sys.stdout)


if __name__ == "__main__":
    main()
