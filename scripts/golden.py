"""Freeze what fixed audits give, to the last bit, and compare a changed code with it.

    python scripts/golden.py freeze FILE [--quick]
    python scripts/golden.py compare FILE [--quick]

Run both on one machine: the last bits of a sum depend on the processor. Numbers and words are
kept apart, so that a sentence may change where no number does. Data sets that are not there
(`FALCON_DISCOVER_DATA`) are left out, and said so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from falcon_discover import FalconDiscover, datasets, discover, load

CALIBRATORS = ("platt", "isotonic", "beta", "temperature", "discrepancy")
RANKERS = ("s_disc", "s_stab", "confidence", "learned_oof", "gated_confidence")
# What a report says about the machine and the moment, not about the audit.
NOT_FROZEN = {"schema_version", "versions", "version", "created", "seconds", "made", "when"}
Golden = dict[str, str]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def numbers(values: Any) -> str:
    return digest(np.ascontiguousarray(np.asarray(values, dtype=np.float64)).tobytes())


def split(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of nested dicts and lists with its place."""
    if isinstance(value, dict):
        for name in sorted(value, key=str):
            if name not in NOT_FROZEN:
                yield from split(value[name], f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from split(item, f"{path}/{place}")
    else:
        yield path, value


def frame(golden: Golden, name: str, rows: pd.DataFrame) -> None:
    counts = rows.select_dtypes(["number", "bool"])
    golden[f"{name} numbers"] = numbers(counts)
    golden[f"{name} words"] = digest(rows.drop(columns=counts.columns).to_csv().encode())


def finding(golden: Golden, name: str, found: Any) -> None:
    """Freeze a finding: its state, scores, risk, regions, review list and figures."""
    golden[f"{name} p"] = numbers(found.state.p)
    golden[f"{name} signals"] = numbers(found.frame())
    for column, values in found.state.evidence.items():
        golden[f"{name} evidence {column}"] = numbers(values)
    golden[f"{name} suspicion"] = numbers(found.suspicion())
    risk = found.risk()
    if risk is not None:
        golden[f"{name} risk"] = numbers(risk)
        interval = found.risk_interval()
        golden[f"{name} risk interval"] = "none" if interval is None else numbers(interval)
    frame(golden, f"{name} regions", found.regions.frame())
    golden[f"{name} clusters"] = numbers(found.regions.clusters.frame().select_dtypes("number"))
    frame(golden, f"{name} review", found.review(0.05))
    if found.codes is None:
        return
    evaluation = found.evaluate()
    frame(golden, f"{name} captures", evaluation.captures)
    frame(golden, f"{name} rankings", evaluation.rankings)
    golden[f"{name} budget"] = repr(found.review_budget(0.01).budget)
    golden[f"{name} batch"] = repr(found.review_budget(0.02, batch=500).budget)
    bound = found.missed_bound(0.1)
    golden[f"{name} missed"] = repr((bound.missed, bound.upper))
    if found.state.has_stability:
        golden[f"{name} weights"] = numbers(found.calibration_weights())


def report(golden: Golden, name: str, found: Any, folder: Path) -> None:
    found.report(folder, max_residual_rate=0.01)
    summary = json.loads((folder / "summary.json").read_text())
    leaves = list(split(summary))
    counts = [(p, v) for p, v in leaves if isinstance(v, int | float) and v is not None]
    golden[f"{name} report numbers"] = digest(repr([v for _, v in counts]).encode())
    golden[f"{name} report words"] = digest(repr([x for x in leaves if x not in counts]).encode())
    golden[f"{name} report list"] = digest((folder / "review.csv").read_bytes())


def archive(golden: Golden, name: str, falcon: Any, new: pd.DataFrame, folder: Path) -> None:
    """Freeze the parts of a saved audit, and what it says of new rows when it comes back."""
    for keep in ("full", "sample", "none"):
        path = folder / f"{keep}.falcon"
        falcon.save(path, reference=keep)
        with zipfile.ZipFile(path) as parts:
            for part in sorted(parts.namelist()):
                data = parts.read(part)
                if part.endswith(".npz"):
                    with np.load(BytesIO(data)) as arrays:
                        golden[f"{name} {keep} {part}"] = digest(
                            b"".join(arrays[key].tobytes() for key in sorted(arrays.files))
                        )
                elif part.endswith(".parquet"):
                    rows = pd.read_parquet(BytesIO(data)).drop(columns="learned", errors="ignore")
                    golden[f"{name} {keep} {part}"] = digest(rows.to_csv().encode())
        again = load(path)
        golden[f"{name} {keep} loaded suspicion"] = numbers(again.score_samples(new))
        golden[f"{name} {keep} loaded review"] = digest(
            again.review(new, budget=0.05).to_csv().encode()
        )
        if keep != "none":
            golden[f"{name} {keep} loaded platt"] = numbers(
                again.calibrated("platt").predict_proba(new)
            )


def scored(golden: Golden, name: str, falcon: Any, new: pd.DataFrame, folder: Path) -> None:
    """Freeze what the command `score` writes."""
    from typer.testing import CliRunner

    from falcon_discover.cli import app

    falcon.save(folder / "audit.falcon")
    new.to_parquet(folder / "new.parquet")
    arguments = [str(folder / "audit.falcon"), str(folder / "new.parquet")]
    result = CliRunner().invoke(app, ["score", *arguments, "--out", str(folder / "scores")])
    if result.exit_code:
        raise RuntimeError(result.output)
    files = sorted((folder / "scores").rglob("*.parquet"))
    golden[f"{name} score"] = digest(
        b"".join(pd.read_parquet(file).drop(columns="file").to_csv().encode() for file in files)
    )


def planted(golden: Golden, folder: Path, *, quick: bool) -> None:
    rows, other = (datasets.make_planted(n, random_state=s) for n, s in ((2500, 1), (900, 2)))
    found = discover(rows.X, rows.y, rows.proba, random_state=0)
    finding(golden, "discover", found)
    report(golden, "discover", found, folder / "discover")
    X, new = (part.X.select_dtypes("number").fillna(0) for part in (rows, other))
    models: dict[str, Any] = {
        "linear": LogisticRegression(),
        "forest": RandomForestClassifier(60, random_state=0),
        "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    }
    for name, model in list(models.items())[: 1 if quick else None]:
        falcon = FalconDiscover(model, tau=0.8, random_state=0, n_jobs=1).fit(X, rows.y)
        finding(golden, name, falcon.examine())
        finding(golden, f"{name} new", falcon.examine(new, other.y))
        finding(golden, f"{name} unlabelled", falcon.examine(new))
        report(golden, f"{name} new", falcon.examine(new, other.y), folder / name)
        for method in CALIBRATORS:
            golden[f"{name} {method}"] = numbers(falcon.calibrated(method).predict_proba(new))
        (folder / f"{name} saved").mkdir()
        archive(golden, name, falcon, new, folder / f"{name} saved")
        scored(golden, name, falcon, new, folder / f"{name} saved")
    frozen = FrozenEstimator(models["forest"].fit(X, rows.y))
    falcon = FalconDiscover(frozen, tau=0.8, random_state=0).fit(new, other.y)
    finding(golden, "frozen", falcon.examine())
    for ranker in RANKERS:
        falcon = FalconDiscover(LogisticRegression(), tau=0.8, ranker=ranker, random_state=0)
        falcon.fit(X, rows.y)
        golden[f"ranker {ranker}"] = numbers(falcon.score_samples())
        golden[f"ranker {ranker} new"] = numbers(falcon.score_samples(new))


def real(golden: Golden, folder: Path, *, quick: bool) -> None:
    sets = (
        {"phoneme": ["extra_trees"]}
        if quick
        else {
            "phoneme": ["logistic_regression", "extra_trees"],
            "spambase": ["hist_gradient_boosting"],
            "adult": ["logistic_regression", "hist_gradient_boosting", "xgboost"],
        }
    )
    for data_set, names in sets.items():
        try:
            X, y = datasets.load(data_set)
        except Exception as error:
            print(f"left out {data_set}: {error}", file=sys.stderr)
            continue
        order = np.random.default_rng(0).permutation(len(X))[:3000]
        X, y = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
        for name in names:
            where = f"{data_set} {name}"
            falcon = FalconDiscover(name, random_state=7, n_jobs=1)
            falcon.fit(X[:1800], y[:1800], X_cal=X[1800:2200], y_cal=y[1800:2200])
            finding(golden, where, falcon.examine())
            finding(golden, f"{where} new", falcon.examine(X[2200:], y[2200:]))
            golden[f"{where} discrepancy"] = numbers(falcon.calibrated().predict_proba(X[2200:]))
            (folder / where).mkdir()
            report(golden, where, falcon.examine(), folder / where / "report")
            scored(golden, where, falcon, X[2200:], folder / where)


def made(*, quick: bool) -> Golden:
    golden: Golden = {}
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        planted(golden, Path(name), quick=quick)
        real(golden, Path(name), quick=quick)
    return golden


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("freeze", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--quick", action="store_true", help="the planted tables and one data set")
    given = parser.parse_args()
    now = made(quick=given.quick)
    if given.action == "freeze":
        given.file.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        print(f"{len(now):,} values frozen in {given.file}")
        return 0
    then = json.loads(given.file.read_text())
    if given.quick:
        then = {name: value for name, value in then.items() if name in now}
    differing = sorted(n for n in then.keys() | now.keys() if then.get(n) != now.get(n))
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(then):,} frozen values, {len(differing):,} of them differ")
    return bool(differing)


if __name__ == "__main__":
    raise SystemExit(main())
