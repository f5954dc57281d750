"""Time and peak memory beside other tools, on the same rows, within one run.

    OMP_WAIT_POLICY=passive python benchmarks/peers.py [--alibi-python PATH] [--only trustscore ...]

- TrustScore against alibi's (both without filter, k = 1) on Adult.
- Regions in words against the SliceLine package, on one draw with a planted region and on
  100,000 x 50.
- The audit of predictions (`discover`) against cleanlab's Datalab on rows of Adult. They do
  different things: ours measures each row against the others, learns the risk and looks for
  regions; Datalab looks for label errors, outliers, near duplicates and more.

Each side runs in a process of its own (`peer_work.py`), in turn; the faster of two rounds counts,
and the peak memory is that of the whole process with its imports. Peers are in the extra `peers`;
alibi needs numpy < 2, so its interpreter is named. A side that takes more than the time limit is
stopped and shown with that limit. Results: `results/performance/peers.csv`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from falcon_discover import PAPER, datasets
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.data.view import TransformedView
from falcon_discover.datasets.splits import paper_split
from falcon_discover.metrics import confidence
from peer_work import TAU

ROUNDS = 2
LIMIT = 180
QUERIES = 2_000
AUDITED = 10_000
WORK = Path(__file__).with_name("peer_work.py")
OUT = Path(__file__).parents[1] / "results" / "performance" / "peers.csv"


def has_alibi(python: str) -> bool:
    """Return whether alibi's TrustScore is there."""
    if not Path(python).exists():
        return False
    words = [python, "-c", "import alibi.confidence"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def run(python: str, task: str, folder: Path) -> dict[str, Any]:
    """Do one side in a child process; stopped at the time limit, its memory is not known."""
    words = [python, str(WORK), task, str(folder)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return {"seconds": float(LIMIT), "stopped": True}
    return {**json.loads(done.stdout.splitlines()[-1]), "stopped": False}


def beside(case: str, folder: Path, sides: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Run the sides in turn; a side that was stopped is not run again."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, (python, task) in sides.items():
            if not (runs[name] and runs[name][-1]["stopped"]):
                runs[name].append(run(python, task, folder))
    rows = []
    for name, done in runs.items():
        best = min(done, key=lambda one: one["seconds"])
        rows.append({"case": case, "tool": name, **best})
        print(rows[-1], flush=True)
    return rows


def trustscore(folder: Path, alibi: str | None) -> list[dict[str, Any]]:
    X, y = datasets.load("adult")
    labels = Labels.from_input(y)
    train, _, test = paper_split(labels.codes, PAPER.seeds[0])
    table, test = Table.from_input(X), test[:QUERIES]
    view = TransformedView().fit(table.take(train))
    reference, rows = view.transform(table.take(train)), view.transform(table.take(test))
    model = LogisticRegression(max_iter=1000).fit(reference[:5000], labels.codes[train][:5000])
    np.savez(
        folder / "trustscore.npz",
        reference=reference,
        labels=labels.codes[train],
        rows=rows,
        decision=model.predict(rows),
    )
    sides = {"ours": (sys.executable, "our_trustscore")}
    if alibi is not None:
        sides["alibi"] = (alibi, "alibi_trustscore")
    found = beside("trustscore", folder, sides)
    if alibi is not None:
        ours, theirs = np.load(folder / "ours.npy"), np.load(folder / "alibi.npy")
        for row in found:
            row["spearman"] = spearmanr(ours, theirs).statistic
            row["largest_difference"] = float(np.max(np.abs(ours - theirs) / theirs))
    return found


def planted(folder: Path, X: pd.DataFrame, sure: Any, events: Any, region: Any) -> None:
    X.to_parquet(folder / "X.parquet")
    np.savez(folder / "events.npz", sure=sure, events=events, region=region)


def regions(folder: Path, alibi: str | None) -> list[dict[str, Any]]:
    sides = {
        "ours": (sys.executable, "our_regions"),
        "SliceLine": (sys.executable, "sliceline_regions"),
    }
    draw = datasets.make_planted(5_000, shape="box", random_state=0)
    sure = confidence(draw.proba)
    events = ((draw.proba >= 0.5) != draw.y) & (sure >= TAU)
    planted(folder, draw.X, sure, events, draw.region)
    found = beside("regions, 5,000 rows", folder, sides)
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(100_000, 50))).rename(columns=lambda i: f"c{i:02d}")
    inside = ((wide["c00"] > 0.5) & (wide["c01"] < 0)).to_numpy()
    sure = rng.uniform(0.7, 1.0, len(wide))
    wrong = rng.uniform(size=len(wide)) < np.where(inside, 0.2, 0.02)
    planted(folder, wide, sure, wrong & (sure >= TAU), inside)
    return found + beside("regions, 100,000 x 50", folder, sides)


def audit(folder: Path, alibi: str | None) -> list[dict[str, Any]]:
    X, y = datasets.load("adult")
    rows = np.sort(np.random.default_rng(0).choice(len(X), AUDITED, replace=False))
    X, codes = X.iloc[rows].reset_index(drop=True), Labels.from_input(y).codes[rows]
    features = TransformedView().fit_transform(X)
    model = LogisticRegression(max_iter=1000)
    p = cross_val_predict(model, features, codes, cv=5, method="predict_proba")[:, 1]
    X.to_parquet(folder / "X.parquet")
    np.savez(folder / "audit.npz", y=codes.astype(int), p=p, features=features)
    sides = {
        "ours": (sys.executable, "our_audit"),
        "Datalab": (sys.executable, "datalab_audit"),
    }
    return beside("audit of predictions", folder, sides)


CASES = {"trustscore": trustscore, "regions": regions, "audit": audit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alibi-python", help="interpreter of an environment with alibi")
    parser.add_argument("--only", action="append", choices=CASES)
    options = parser.parse_args()
    alibi = options.alibi_python
    if alibi is not None and not has_alibi(alibi):
        print(f"alibi is left out: {alibi} cannot import it")
        alibi = None
    rows = []
    for name in options.only or CASES:
        with tempfile.TemporaryDirectory() as scratch:
            rows += CASES[name](Path(scratch), alibi)
    found = pd.DataFrame(rows)
    if OUT.exists():
        known = pd.read_csv(OUT)
        found = pd.concat([known[~known["case"].isin(found["case"])], found])
    OUT.parent.mkdir(exist_ok=True)
    found.to_csv(OUT, index=False, float_format="%.6g")
    print(found.to_string(index=False))


if __name__ == "__main__":
    main()
