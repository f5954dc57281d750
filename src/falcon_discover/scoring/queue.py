"""The review queue of a run: the riskiest rows of all files, with reasons, as a list and a page.

OUT/_queue/queue.html     the page, to work through; marks are downloaded from it
OUT/_queue/queue.csv      the same rows for a spreadsheet
OUT/_queue/queue.parquet  the same rows, and `summary.json` what `feedback` needs to know of them

The folder begins with an underscore, so that readers of OUT as parquet files pass over it.

Memory holds one part and the queue, whatever the size of the files: the parts that the run wrote
say which rows are wanted, and only these are read again. Rows of equal suspicion are ordered by a
hash of their content, as in every review list.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from falcon_discover import rankers
from falcon_discover.audit.absent import PREDICTIONS
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.finding import Finding
from falcon_discover.data.files import spreadsheet_safe
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_size
from falcon_discover.metrics.decisions import Tau
from falcon_discover.metrics.ordering import tie_keys
from falcon_discover.models.score_columns import scores_in
from falcon_discover.report.build import About, Report
from falcon_discover.report.write import html
from falcon_discover.runtime import notices
from falcon_discover.runtime.atomic import atomic_write
from falcon_discover.runtime.records import json_text
from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray
from falcon_discover.scoring import rows
from falcon_discover.scoring.plan import Part, Plan
from falcon_discover.scoring.scorer import features_of, native, texts_of

FOLDER = "_queue"
PAGE, LIST, TABLE, SUMMARY = "queue.html", "queue.csv", "queue.parquet", "summary.json"
FILE_AND_ROW = "file_and_row"


@dataclass(frozen=True, eq=False)
class Tally:
    """What the parts of a run hold.

    Attributes
    ----------
    rows, eligible : all rows, and those that could be confident errors
    expected : how many of these are expected to be wrong; None where the ranker knows no risk
    top : the highest suspicions of eligible rows, as many as the queue is to list
    """

    rows: int
    eligible: int
    expected: float | None
    top: FloatArray

    @classmethod
    def of(cls, plan: Plan, out: Path, rule: Rule, budget: float | None) -> Tally:
        """Read the parts in `out` one after the other.

        Parameters
        ----------
        plan : what was scored into `out`
        budget : how many rows are to be listed: a share of all rows, or a number of them
        """
        size = 0 if budget is None else review_size(plan.rows, budget)
        top, eligible, expected = np.empty(0), 0, 0.0
        known = True
        for part in plan.parts():
            scored = _Scored.of(rule, out / part.name)
            eligible += int(scored.eligible.sum())
            known = known and scored.expected is not None
            expected += scored.expected or 0.0
            top = np.sort(np.append(top, scored.suspicion[scored.eligible]))[::-1][:size]
        return cls(plan.rows, eligible, expected if known else None, top)


@dataclass(frozen=True, eq=False)
class Rule:
    """From which confidence on a prediction counts as confident, by class where it differs."""

    tau: Tau
    classes: npt.NDArray[Any]

    def eligible(self, predicted: pd.Series, confidence: pd.Series) -> BoolArray:
        """Return which predictions are confident."""
        least: Any = self.tau
        if isinstance(self.tau, tuple):
            least = np.array(self.tau)[pd.Index(self.classes).get_indexer(predicted)]
        return np.asarray(confidence >= least)


@dataclass(frozen=True, eq=False)
class _Scored:
    """What a written part says of its rows."""

    suspicion: FloatArray
    eligible: BoolArray
    expected: float | None

    @classmethod
    def of(cls, rule: Rule, path: Path) -> _Scored:
        there = pq.read_schema(path).names
        wanted = ["predicted", "confidence", "suspicion", *(["risk"] if "risk" in there else [])]
        table = pq.read_table(path, columns=wanted).to_pandas()
        return cls(
            table["suspicion"].to_numpy(dtype=np.float64),
            rule.eligible(table["predicted"], table["confidence"]),
            float(table["risk"].sum()) if "risk" in table else None,
        )


def write_queue(falcon: FalconDiscover, plan: Plan, out: Path, tally: Tally) -> Path | None:
    """Write the riskiest eligible rows and return the page; None where no row is eligible."""
    rule = Rule(falcon.audit_.tau, falcon.classes_)
    chosen = dict(_chosen(falcon, plan.parts(), out, tally.top, rule))
    return _write(falcon, plan, chosen, out / FOLDER) if chosen else None


def _chosen(
    falcon: FalconDiscover, parts: Sequence[Part], out: Path, top: FloatArray, rule: Rule
) -> Iterator[tuple[Part, IntArray]]:
    """Yield the rows of the queue by part, as positions in the part."""
    if not len(top):
        return
    last = top[-1]
    room = int((top == last).sum())
    tied: dict[Part, IntArray] = {}
    clear: dict[Part, IntArray] = {}
    for part in parts:
        scored = _Scored.of(rule, out / part.name)
        clear[part] = np.flatnonzero(scored.eligible & (scored.suspicion > last))
        tied[part] = np.flatnonzero(scored.eligible & (scored.suspicion == last))
    if sum(map(len, tied.values())) > room:
        tied = _first_tied(falcon, tied, room)
    for part in parts:
        found = np.sort(np.append(clear[part], tied.get(part, np.empty(0, dtype=np.intp))))
        if len(found):
            yield part, found


def _first_tied(
    falcon: FalconDiscover, tied: dict[Part, IntArray], room: int
) -> dict[Part, IntArray]:
    """Return as many rows of equal suspicion as there is room for, by the hash of their content."""
    keys = np.empty(0, dtype=np.uint64)
    where = np.empty((0, 2), dtype=np.intp)
    for part, places in tied.items():
        if not len(places):
            continue
        table, _ = _read(falcon, part, places, None)
        hashes = falcon.new_rows(native(falcon, table), warn=False).row_hashes()
        keys = np.append(keys, tie_keys(hashes, falcon.audit_.seed))
        where = np.vstack([where, np.column_stack([np.full(len(places), part.number), places])])
        # Stable: of rows that are equal in content too, the first in the files comes first.
        order = np.argsort(keys, kind="stable")[:room]
        keys, where = keys[order], where[order]
    return {part: where[where[:, 0] == part.number, 1] for part in tied}


def _read(
    falcon: FalconDiscover, part: Part, places: IntArray, identity: str | None
) -> tuple[pa.Table, pa.Table]:
    """Return the features of some rows of a part, and their id and scores."""
    path, texts = part.source.path, texts_of(falcon, identity)
    more = part.apart(identity)
    features = features_of(falcon, rows.schema(path, texts).names, more)
    wanted = list(dict.fromkeys([*features, *more]))
    table = rows.read(path, part.start, part.stop, wanted, texts).take(places)
    return table.select(features), table.select(more)


def _write(falcon: FalconDiscover, plan: Plan, chosen: dict[Part, IntArray], folder: Path) -> Path:
    found, identity = _examined(falcon, plan, chosen)
    names = sorted({part.source.path.name for part in chosen})
    about = About(
        name=names[0] if len(names) == 1 else f"{len(names)} files",
        rows=plan.rows,
        how={
            **(PREDICTIONS if falcon.audit_.model is None else {"model": falcon.backbone_}),
            "rows": f"the riskiest {len(found.state):,} of {plan.rows:,} scored rows",
        },
        settings={"ranker": rankers.name_of(falcon.audit_.spec), "severity": falcon.severity},
        budget=len(found.state),
        contributions=False,
        identity=identity,
    )
    report = Report.of(found, about)
    folder.mkdir(exist_ok=True)
    paths = [folder / name for name in (PAGE, LIST, TABLE, SUMMARY)]
    with atomic_write(*paths) as (page, text, table, summary):
        page.write(html(report).encode())
        safe = spreadsheet_safe(report.review)
        safe.to_csv(text, index=False, quoting=csv.QUOTE_NONNUMERIC)
        report.review.to_parquet(table, index=False)
        summary.write(json_text(report.summary).encode())
    return folder / PAGE


def _examined(
    falcon: FalconDiscover, plan: Plan, chosen: dict[Part, IntArray]
) -> tuple[Finding, pd.Series | None]:
    """Return the chosen rows with their signals and reasons, and what identifies them."""
    starts, position = {}, 0
    for source in plan.sources:
        starts[source] = position
        position += source.rows
    features, more, numbers, called = [], [], [], []
    for part, places in chosen.items():
        table, rest = _read(falcon, part, places, plan.identity)
        features.append(table)
        more.append(rest)
        numbers.append(starts[part.source] + part.start + places)
        called += [f"{part.source.file}:{part.start + place}" for place in places]
        part.source.check_unchanged()
    X, rest = native(falcon, _joined(features)), _joined(more).to_pandas()
    given = scores_in(rest, plan.proba, falcon.classes_)
    with notices.collected():
        # What is odd about the rows was noticed when they were scored.
        found = falcon.examine(X, proba=given)
    table = replace(found.table, index=pd.Index(np.concatenate(numbers)))
    found = replace(found, table=table)
    if plan.identity is not None:
        return found, pd.Series(rest[plan.identity].to_numpy(), name=plan.identity)
    if len(plan.sources) == 1:
        return found, None
    return found, pd.Series(called, name=FILE_AND_ROW)


def _joined(tables: list[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    except pa.ArrowException as error:
        raise InputError(
            f"the files have columns of different types ({error}): write them with one type to "
            "get a queue."
        ) from error
