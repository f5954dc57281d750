"""One side of a comparison in `peers.py`, alone in its process: python peer_work.py TASK FOLDER.

The inputs are in FOLDER; the seconds of the work, without imports and reading, are printed as JSON,
and what was found is put beside the inputs. Packages are imported by the tasks that need
them, so that a peer may live in an environment of its own.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from peak_of import peak_mb

TAU = 0.90


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def our_trustscore(folder: Path) -> tuple[float, dict[str, Any]]:
    from falcon_discover.rankers.trust import TrustScore

    given = np.load(folder / "trustscore.npz")

    def work() -> Any:
        trust = TrustScore(given["reference"], given["labels"])
        return trust.score(given["rows"], given["decision"].astype(bool))

    took, score = timed(work)
    np.save(folder / "ours.npy", score)
    return took, {}


def alibi_trustscore(folder: Path) -> tuple[float, dict[str, Any]]:
    from alibi.confidence import TrustScore

    given = np.load(folder / "trustscore.npz")

    def work() -> Any:
        trust = TrustScore(alpha=0.0, filter_type=None)
        trust.fit(given["reference"], given["labels"].astype(int), classes=2)
        return trust.score(given["rows"], given["decision"].astype(int), k=1)[0]

    took, score = timed(work)
    np.save(folder / "alibi.npy", np.asarray(score, dtype=float))
    return took, {}


def our_regions(folder: Path) -> tuple[float, dict[str, Any]]:
    import pandas as pd

    from falcon_discover.data.table import Table
    from falcon_discover.regions.rules import find_rules

    X, given = pd.read_parquet(folder / "X.parquet"), np.load(folder / "events.npz")

    def work() -> Any:
        table = Table.from_input(X)
        return find_rules(table.frame, table.kinds, given["sure"], given["events"], tau=TAU)

    took, rules = timed(work)
    inside = np.zeros(len(X), dtype=bool)
    if rules:
        inside[rules[0].rows] = True
    return took, {"jaccard": jaccard(inside, given["region"])}


def sliceline_regions(folder: Path) -> tuple[float, dict[str, Any]]:
    import pandas as pd

    from planted_regions import TESTED, cells, slice_of

    X, given = pd.read_parquet(folder / "X.parquet"), np.load(folder / "events.npz")
    n_cells, alpha = TESTED
    eligible = np.flatnonzero(given["sure"] >= TAU)
    took, inside = timed(lambda: slice_of(cells(X, n_cells), eligible, given["events"], alpha))
    return took, {"jaccard": jaccard(inside, given["region"])}


def our_audit(folder: Path) -> tuple[float, dict[str, Any]]:
    import pandas as pd

    from falcon_discover import discover

    X, given = pd.read_parquet(folder / "X.parquet"), np.load(folder / "audit.npz")
    took, found = timed(lambda: discover(X, given["y"], given["p"], random_state=0, n_jobs=-1))
    assert len(found.suspicion()) == len(X)
    return took, {}


def datalab_audit(folder: Path) -> tuple[float, dict[str, Any]]:
    from cleanlab import Datalab

    given = np.load(folder / "audit.npz")
    p = np.column_stack([1 - given["p"], given["p"]])

    def work() -> Any:
        lab = Datalab(data={"y": given["y"]}, label_name="y", verbosity=0)
        lab.find_issues(pred_probs=p, features=given["features"])
        return lab.get_issues("label")["label_score"].to_numpy()

    took, quality = timed(work)
    assert len(quality) == len(given["y"])
    return took, {}


def jaccard(one: Any, other: Any) -> float:
    return float((one & other).sum() / max((one | other).sum(), 1))


TASKS = {
    "our_trustscore": our_trustscore,
    "alibi_trustscore": alibi_trustscore,
    "our_regions": our_regions,
    "sliceline_regions": sliceline_regions,
    "our_audit": our_audit,
    "datalab_audit": datalab_audit,
}

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    seconds, more = TASKS[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb(), **more}))
