"""Answers that must agree: the same question put in two ways, over generated rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.frozen import FrozenEstimator

from falcon_discover import FalconDiscover, load, metrics
from falcon_discover.scoring.run import score_files
from falcon_discover.scoring.watch import watch_files
from fuzz.compared import SMALL, Rows, audited, closely, exactly, said, same_finding
from fuzz.models import Strange
from fuzz.outcome import Hang, WrongError, patience, place

CASES = 20


def again(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    same_finding(audited(rows, ranker), audited(rows, ranker), exactly)


def renamed(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    X = rows.X.rename(columns={name: f"other {name}" for name in rows.X})
    same_finding(audited(rows, ranker), audited(Rows(X, rows.y, rows.p), ranker), exactly)


def labelled(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    X = rows.X.set_axis([f"row {i % 7}" for i in range(len(rows.X))])
    same_finding(audited(rows, ranker), audited(Rows(X, rows.y, rows.p), ranker), exactly)


def named_classes(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    y = np.array(["no", "yes"])[rows.y]
    same_finding(audited(rows, ranker), audited(Rows(rows.X, y, rows.p), ranker), exactly)


def flipped(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Swap the classes. At exactly one half the second class is decided, so that is left out."""
    p = np.where(rows.p == 0.5, 0.25, rows.p)
    one = audited(Rows(rows.X, rows.y, p), ranker)
    other = audited(Rows(rows.X, 1 - rows.y, 1 - p), ranker)
    same_finding(one, other, closely if ranker != "auto" else _nearly_ranked)


def _nearly_ranked(one: Any, other: Any, what: str) -> None:
    """Trees turn a last digit of a second opinion into a little more."""
    if what not in ("suspicion", "risk"):
        closely(one, other, what)
    elif not np.allclose(one, other, atol=0.02):
        raise WrongError(f"{what}: not the same")


def columns_turned(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Turn the columns. The forest among the second opinions draws columns by their place, so what
    is learned from it may change: only signals and gate are compared.
    """
    X = rows.X.iloc[:, rng.permutation(rows.X.shape[1])]
    gate = "gated_confidence"
    same_finding(audited(rows, gate), audited(Rows(X, rows.y, rows.p), gate), _nearly)


def _nearly(one: Any, other: Any, what: str) -> None:
    """Compare what comes from distances: coordinates and their sums are single precision."""
    if not np.allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-5, equal_nan=True):
        raise WrongError(f"{what}: not the same")


def constant_column(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    X = rows.X.assign(flat=float(rng.integers(-5, 5)))
    same_finding(audited(rows, ranker), audited(Rows(X, rows.y, rows.p), ranker), _nearly)


def rescaled(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    numbers = {
        name: rows.X[name] * 2.0 ** int(rng.integers(-8, 9)) for name in rows.X if name != "k"
    }
    X = rows.X.assign(**numbers)
    same_finding(audited(rows, ranker), audited(Rows(X, rows.y, rows.p), ranker), exactly)


def containers(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    import polars

    one = audited(rows, ranker)
    for X in (polars.from_pandas(rows.X), pa.Table.from_pandas(rows.X, preserve_index=False)):
        same_finding(one, audited(Rows(X, rows.y, rows.p), ranker), exactly)
    numbers = rows.X.drop(columns="k", errors="ignore")
    if numbers.shape[1]:
        one = audited(Rows(numbers, rows.y, rows.p), ranker)
        same_finding(one, audited(Rows(numbers.to_numpy(), rows.y, rows.p), ranker), exactly)


def types(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    one = audited(rows, ranker)
    for X in (
        rows.X.convert_dtypes(),
        rows.X.convert_dtypes(dtype_backend="pyarrow"),
        rows.X.astype(object),
    ):
        same_finding(one, audited(Rows(X, rows.y, rows.p), ranker), exactly)
    if "k" in rows.X:
        X = rows.X.astype({"k": "category"})
        same_finding(one, audited(Rows(X, rows.y, rows.p), ranker), exactly)


def threads(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    same_finding(audited(rows, ranker), audited(rows, ranker, n_jobs=2), exactly)


def predictions_alone(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Without the model the stability signals are absent; all others are what they are with it."""
    model = Strange("none", (0, 1))
    p = model.predict_proba(rows.X)[:, 1]
    alone = audited(Rows(rows.X, rows.y, p), "gated_confidence")
    options = {**SMALL, "ranker": "gated_confidence", "mix": (0.2,), "n_mix_neighbors": 2}
    with_model = FalconDiscover(FrozenEstimator(model), **options).fit(rows.X, rows.y).examine()
    mine, theirs = said(alone), said(with_model)
    for name in mine:
        if not mine[name].isna().all():
            exactly(mine[name], theirs[name], name)


def repeated(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Whole weights count as repeated rows, in every figure."""
    weight = rng.integers(0, 4, len(rows.y))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(rows.y)), weight)
    fc, score = metrics.false_confidence(rows.y, rows.p), np.round(rows.p * 8)
    confidence = metrics.confidence(rows.p)
    ranked, sure, scored = (fc, score), (fc, score, confidence), (rows.y, rows.p)
    for name, arrays, more in (
        ("capture_at", ranked, (0.2,)),
        ("fc_count_at", ranked, (0.2,)),
        ("fc_auroc", ranked, ()),
        ("aurc", ranked, ()),
        ("eligible_auroc", sure, (0.9,)),
        ("eligible_average_precision", sure, (0.9,)),
        ("brier", scored, ()),
        ("ece", scored, ()),
        ("nll", scored, ()),
        ("label_auroc", scored, ()),
        ("cumulative_calibration_error", scored, ()),
    ):
        figure = getattr(metrics, name)
        weighted = figure(*arrays, *more, sample_weight=weight)
        closely(weighted, figure(*(array[copies] for array in arrays), *more), name)


def all_twice(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Every figure of a ranking is what it was when all rows are there twice."""
    fc, score = metrics.false_confidence(rows.y, rows.p), np.round(rows.p * 8)
    fc2, score2 = np.tile(fc, 2), np.tile(score, 2)
    closely(metrics.capture_at(fc2, score2, 0.2), metrics.capture_at(fc, score, 0.2), "capture_at")
    closely(metrics.fc_auroc(fc2, score2), metrics.fc_auroc(fc, score), "fc_auroc")
    counts = metrics.fc_count_at(fc2, score2, 0.2), 2 * metrics.fc_count_at(fc, score, 0.2)
    closely(*counts, "fc_count_at")


def rising(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """A ranking is what counts: any rising function of the score gives the same figures."""
    fc, score = metrics.false_confidence(rows.y, rows.p), rows.p
    for change in (np.exp, np.cbrt, lambda v: 3 * v - 7, lambda v: v**3):
        exactly(
            metrics.capture_at(fc, change(score), 0.2),
            metrics.capture_at(fc, score, 0.2),
            "capture_at",
        )
        exactly(metrics.fc_auroc(fc, change(score)), metrics.fc_auroc(fc, score), "fc_auroc")
        closely(metrics.aurc(fc, change(score)), metrics.aurc(fc, score), "aurc")


@cache
def standing(ranker: str) -> tuple[FalconDiscover, bytes]:
    """Return an audit of a model, and the same in bytes."""
    rows = Rows.drawn(np.random.default_rng(5), 120)
    X = _whole(np.random.default_rng(6), 120)
    falcon = FalconDiscover("logistic_regression", ranker=ranker, **SMALL).fit(X, rows.y)
    with tempfile.TemporaryDirectory() as folder:
        return falcon, falcon.save(Path(folder, "audit.falcon")).read_bytes()


def _whole(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return rows with all columns, and some of them the same."""
    X = pd.DataFrame(
        {"a": rng.normal(size=n), "c": rng.gamma(2.0, size=n), "k": rng.choice(["u", "v"], n)}
    )
    X.iloc[-2:] = X.iloc[:2].to_numpy()
    return X


def rows_turned(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """New rows in another order: each is judged as before, and the same are listed."""
    falcon, _ = standing(ranker)
    X, y = _whole(rng, len(rows.y)), rows.y
    order = rng.permutation(len(X))
    one, other = falcon.examine(X, y), falcon.examine(X.iloc[order], y[order])
    closely(one.suspicion()[order], other.suspicion(), "suspicion")
    listed = one.review(0.2)["row"].to_numpy(), order[other.review(0.2)["row"].to_numpy()]
    # Rows that are the same in all their columns may stand for each other.
    contents = [
        X.iloc[rows].astype(str).agg("|".join, axis=1).sort_values().tolist() for rows in listed
    ]
    if contents[0] != contents[1]:
        raise WrongError("other rows are reviewed")
    evaluated = [found.evaluate().to_dict() for found in (one, other)]
    _same_dicts(*evaluated)


def _same_dicts(one: Any, other: Any, where: str = "") -> None:
    if isinstance(one, dict):
        for key in one:
            _same_dicts(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        for i, value in enumerate(one):
            _same_dicts(value, other[i], f"{where}[{i}]")
    elif isinstance(one, float) and isinstance(other, float):
        closely(one, other, where)
    elif one != other:
        raise WrongError(f"{where}: {one!r} and {other!r}")


def in_parts(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    falcon, _ = standing(ranker)
    X = _whole(rng, 40)
    cut = int(rng.integers(1, 39))
    whole = falcon.score_samples(X)
    parts = [falcon.score_samples(part) for part in (X.iloc[:cut], X.iloc[cut:])]
    closely(whole, np.concatenate(parts), "suspicion")


def loaded(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    falcon, content = standing(ranker)
    X = _whole(rng, len(rows.y))
    same_finding(falcon.examine(X, rows.y), load(content).examine(X, rows.y), exactly)
    _same_dicts(falcon.monitor(X).to_dict(), load(content).monitor(X).to_dict())


def loaded_threads(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    _, content = standing(ranker)
    X = _whole(rng, len(rows.y))
    one, two = (load(content, n_jobs=jobs).examine(X, rows.y) for jobs in (1, 2))
    same_finding(one, two, exactly)


def later_types(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    import polars

    falcon, _ = standing(ranker)
    X = _whole(rng, 40)
    scores = falcon.score_samples(X)
    for given in (
        X.convert_dtypes(dtype_backend="pyarrow"),
        X.astype({"k": "category"}),
        polars.from_pandas(X),
    ):
        exactly(scores, falcon.score_samples(given), "suspicion")


def parts_of_files(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    """Score and monitor a file in parts of two sizes, and hold both to rows in memory."""
    falcon, content = standing(ranker)
    X = _whole(rng, 60)
    with (
        tempfile.TemporaryDirectory() as scratch,
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
    ):
        folder = Path(scratch)
        (folder / "a.falcon").write_bytes(content)
        file = folder / f"rows.{('parquet', 'csv', 'feather')[int(rng.integers(0, 3))]}"
        {".parquet": X.to_parquet, ".csv": lambda path: X.to_csv(path, index=False),
         ".feather": X.to_feather}[file.suffix](file)  # fmt: skip
        found = []
        for size in (int(rng.integers(1, 30)), 1000):
            out = folder / f"out-{size}"
            score_files(folder / "a.falcon", [file], out, part_rows=size)
            found.append(pd.read_parquet(out).sort_values("row", kind="stable"))
            (report,) = watch_files(folder / "a.falcon", [file], part_rows=size).reports.values()
            closely(report.errors, falcon.monitor(X).errors, "errors")
        closely(found[0]["suspicion"], found[1]["suspicion"], "suspicion")
        closely(found[1]["suspicion"], falcon.score_samples(X), "suspicion in memory")


def on_a_cluster(rows: Rows, ranker: str, rng: np.random.Generator) -> None:
    from falcon_discover.scoring.cluster import dask_engine

    _, content = standing(ranker)
    X = _whole(rng, 60)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "a.falcon").write_bytes(content)
        X.to_parquet(folder / "rows.parquet")
        for name, engine in {"local": None, "dask": dask_engine(workers=1)}.items():
            score_files(
                folder / "a.falcon",
                [folder / "rows.parquet"],
                folder / name,
                engine=engine,
                part_rows=20,
            )
        for part in sorted((folder / "local").glob("*.parquet")):
            if part.read_bytes() != (folder / "dask" / part.name).read_bytes():
                raise WrongError(f"{part.name}: other bytes")


@dataclass(frozen=True)
class Relation:
    """Two ways to put a question.

    Attributes
    ----------
    what, promise : in the words of the table
    holds : raises where the two answers do not agree
    share : how many of the cases are tried
    """

    what: str
    promise: str
    holds: Callable[[Rows, str, np.random.Generator], None]
    share: float = 1.0


BITS, DIGITS, SINGLE = "to the last bit", "except for the last digits", "to single precision"
RANKED = "except for the last digits; what is learned, within 0.02"
RELATIONS = (
    Relation("the same audit twice", BITS, again),
    Relation("new rows in another order", DIGITS, rows_turned),
    Relation("columns in another order, signals and gate", SINGLE, columns_turned),
    Relation("columns renamed", BITS, renamed),
    Relation("row labels changed", BITS, labelled),
    Relation("classes renamed", BITS, named_classes),
    Relation("classes swapped", RANKED, flipped),
    Relation("one more constant column", SINGLE, constant_column),
    Relation("numbers in other units (powers of two)", BITS, rescaled),
    Relation("pandas, polars, Arrow, numpy", BITS, containers),
    Relation("nullable, Arrow, object and category columns", BITS, types),
    Relation("later rows in other types and libraries", BITS, later_types),
    Relation("one thread and two", BITS, threads),
    Relation("a loaded audit on one thread and two", BITS, loaded_threads),
    Relation("predictions alone and the frozen model", BITS, predictions_alone),
    Relation("a saved audit and the live one", BITS, loaded),
    Relation("rows all at once and in two parts", DIGITS, in_parts),
    Relation("files in parts of any size, and rows in memory", DIGITS, parts_of_files, 0.5),
    Relation("local and Dask", BITS, on_a_cluster, 0.05),
    Relation("whole weights and repeated rows, eleven figures", DIGITS, repeated, 5.0),
    Relation("all rows twice, three figures", DIGITS, all_twice, 5.0),
    Relation("a rising function of the score, three figures", DIGITS, rising, 5.0),
)


def lines(cases: int, only: str = "") -> Iterator[dict[str, Any]]:
    """Yield one line for each relation: cases, and those that held."""
    for kind, relation in enumerate(RELATIONS):
        if only not in relation.what:
            continue
        count, held = max(1, round(cases * relation.share)), 0
        for number in range(count):
            rng = np.random.default_rng([kind, number])
            # The ranker that learns takes part in a quarter of the cases: it costs most.
            ranker = "auto" if number % 4 == 0 else "gated_confidence"
            try:
                with patience():
                    rows = Rows.drawn(rng, 120 if ranker == "auto" else 40)
                    relation.holds(rows, ranker, rng)
                held += 1
            except (Exception, Hang) as error:
                print(f"  {relation.what}, number {number}, {ranker}: {place(error)}", flush=True)
        yield {"relation": relation.what, "cases": count, "held": held, "agree": relation.promise,
               "faults": count - held}  # fmt: skip
