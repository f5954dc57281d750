"""Monitor files of any size with a saved audit: one report for each batch.

OUT/_plan.json            what is read and how; another plan is refused
OUT/_parts/part-00000.npz what was counted of each part, so that a run can be resumed
OUT/batches.jsonl         a report for each batch, one line of JSON each
OUT/batches.csv           the same figures as a table
OUT/monitor.html          the same as a page
OUT/_DONE.json            written last
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.exceptions import InputError
from falcon_discover.monitoring.baseline import Baseline
from falcon_discover.monitoring.batch import BatchReport
from falcon_discover.monitoring.calibration_watch import CalibrationWatch
from falcon_discover.monitoring.comparison import Comparison
from falcon_discover.monitoring.labelled import label_codes
from falcon_discover.monitoring.statistics import BatchStatistics
from falcon_discover.report import series
from falcon_discover.runtime import notices, progress
from falcon_discover.runtime.atomic import atomic_write, write_text
from falcon_discover.runtime.records import json_text
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.scoring import rows
from falcon_discover.scoring.batches import PERIODS, batch_names, check_few, in_order, packed
from falcon_discover.scoring.batches import unpacked as batches_of
from falcon_discover.scoring.plan import PART_ROWS, Part, Plan
from falcon_discover.scoring.run import (
    DONE,
    Engine,
    check_apart,
    claimed,
    local,
    write_parts,
)
from falcon_discover.scoring.scorer import Scored, check_columns, placed, rows_of
from falcon_discover.settings import PAPER
from falcon_discover.storage.load import load

PARTS, LINES, TABLE, PAGE = "_parts", "batches.jsonl", "batches.csv", "monitor.html"


@dataclass(frozen=True, eq=False)
class Watched:
    """What a run found: a report for each batch, in order, and what was noticed."""

    reports: dict[str, BatchReport]
    rows: int
    notes: tuple[str, ...]
    comparisons: dict[str, Comparison] = field(default_factory=dict)

    @property
    def audit_again(self) -> bool:
        """Whether the labels of the batches show that the risks do not hold."""
        return any(comparison.audit_again for comparison in self.comparisons.values())

    def frame(self) -> pd.DataFrame:
        """Return one line for each batch."""
        found = pd.concat([report.frame() for report in self.reports.values()], ignore_index=True)
        found.insert(0, "batch", list(self.reports))
        if self.comparisons:
            lines = [self._found(name) for name in self.reports]
            found = pd.concat([found, pd.DataFrame(lines)], axis=1)
        return found

    def _found(self, name: str) -> dict[str, Any]:
        """Return what became of a batch's estimate, as far as there are labels."""
        comparison = self.comparisons.get(name)
        if comparison is None:
            return {"labelled": 0}
        return {
            "labelled": comparison.labelled,
            "labelled_errors": comparison.observed,
            "labelled_expected": comparison.expected,
            "held": comparison.held,
            "audit_again": comparison.audit_again,
        }

    def lines(self) -> Iterator[str]:
        """Yield one line of JSON for each batch, as dashboards read them."""
        for name, report in self.reports.items():
            line = {"batch": name, **report.to_dict()}
            if name in self.comparisons:
                line["comparison"] = self.comparisons[name].to_dict()
            yield json.dumps(line, allow_nan=False)


def watch_files(
    audit: Path,
    data: Sequence[Path],
    out: Path | None = None,
    *,
    by: str | None = None,
    every: str | None = None,
    engine: Engine | None = None,
    part_rows: int = PART_ROWS,
    proba: Sequence[str] = (),
    target: str | None = None,
    confidence_level: float = PAPER.interval_level,
    trusted: Collection[str] = (),
) -> Watched:
    """Return a report for each batch of rows in files.

    Parameters
    ----------
    audit : what `FalconDiscover.save` wrote
    data : parquet files and folders of them; CSV and Feather files are read whole
    out : folder for the results and for what a resumed run need not do again
    by : column that says which batch a row belongs to; without it each file is a batch
    every : "day", "week", "month", "quarter" or "year": the period of the times in `by`
    engine, part_rows, proba, trusted : as in `score_files`
    target : column with the labels, where some are known by now; empty where they are not
    """
    if not audit.is_file():
        raise InputError(f"there is no file {audit}.")
    if every is not None and (by is None or every not in PERIODS):
        raise InputError(
            f"--every is {every!r}: choose one of {', '.join(PERIODS)}, and name the column of "
            "times with --by."
        )
    if out is not None:
        check_apart(out, data)
    saved = audit.read_bytes()
    with ExitStack() as scratch:
        scratch.callback(rows.forget)
        place = out or Path(scratch.enter_context(TemporaryDirectory()), "parts")
        with notices.collected() as notes:
            plan = Plan.of(
                saved, data, part_rows=part_rows, identity=by, proba=proba, target=target
            )
            falcon = load(saved, trusted=trusted)
            check_columns(falcon, plan)
            if by is None:
                check_few((source.file for source in plan.sources), None)
        with claimed(place, {**plan.to_dict(), "by": by, "every": every}):
            (place / PARTS).mkdir(exist_ok=True)
            places = {part.number: _place(place, part) for part in plan.parts()}
            missing = [part for part in plan.parts() if not _is_whole(places[part.number])]
            task = partial(count_part, by=by, every=every)
            finished = (engine or local(trusted=trusted))(saved, missing, task)
            notes |= write_parts(finished, {p.number: places[p.number] for p in missing})
            for source in plan.sources:
                source.check_unchanged()
            reports = _reports(falcon, list(places.values()), by, confidence_level)
            found = Watched(reports, plan.rows, tuple(notes), compared(reports))
            _write(found, place, audit.name)
            write_text(place / DONE, json_text({"rows": plan.rows, "batches": len(reports)}))
    return found


def _write(found: Watched, out: Path, audit: str) -> None:
    """Write the reports in three forms, which are always of the same run."""
    texts = {
        LINES: "".join(f"{line}\n" for line in found.lines()),
        TABLE: found.frame().to_csv(index=False),
        PAGE: series.html(found.reports, audit=audit, compared=found.comparisons),
    }
    with atomic_write(*(out / name for name in texts)) as files:
        for file, text in zip(files, texts.values(), strict=True):
            file.write(text.encode())


def count_part(falcon: FalconDiscover, part: Part, by: str | None, every: str | None) -> Scored:
    """Read one part and count it, batch by batch; the bytes depend on the arguments only."""
    with placed(part, "monitored"), notices.collected() as notes:
        return Scored(part.number, _counted(falcon, part, by, every), tuple(notes))


def _counted(falcon: FalconDiscover, part: Part, by: str | None, every: str | None) -> bytes:
    audit = falcon.audit_
    with one_blas_thread(openmp=effective_n_jobs(falcon.n_jobs)):
        read = rows_of(falcon, part, by)
        table = falcon.new_rows(read.X)
        p = falcon.given_scores(read.X, table, read.given)
        codes = np.full(len(table), -1, dtype=np.intp)
        if part.target is not None:
            codes = label_codes(read.table[part.target].to_pandas(), audit.classes)
        names = np.full(len(table), part.source.file, dtype=object)
        if by is not None:
            names = batch_names(read.table[by].to_pandas(), by, every)
            check_few(names, by)
        Baseline.of(audit)
        state = audit.state(table, p, only_eligible=True)
        found = {}
        for name in in_order(set(names)):
            inside = np.flatnonzero(names == name)
            found[name] = BatchStatistics.of_state(
                audit,
                table.take(inside),
                state.take(inside),
                part=part.number,
                codes=codes[inside],
            )
        return packed(found)


def _reports(
    falcon: FalconDiscover, parts: Sequence[Path], by: str | None, confidence_level: float
) -> dict[str, BatchReport]:
    """Add up the parts and say what each batch shows."""
    whole: dict[str, BatchStatistics] = {}
    for path in parts:
        for name, found in batches_of(path.read_bytes(), str(path)).items():
            whole[name] = whole[name] + found if name in whole else found
        check_few(whole, by)
    names = in_order(whole) if by is not None else list(whole)
    progress.expect(len(names))
    reports = {}
    for name in names:
        progress.step(f"batch {name}")
        reports[name] = BatchReport.of(whole.pop(name), falcon.audit_, confidence_level)
    return reports


def compared(reports: Mapping[str, BatchReport]) -> dict[str, Comparison]:
    """Return what became of the estimates of batches with labels, in order, and the running check.

    Batches without a confident prediction that has a label say nothing about the risks.
    """
    found: dict[str, Comparison] = {}
    watch = CalibrationWatch()
    for name, report in reports.items():
        if report.labelled.eligible:
            found[name] = report.compare(watch=watch)
            watch = found[name].watch
    return found


def _place(out: Path, part: Part) -> Path:
    return out / PARTS / f"part-{part.number:05d}.npz"


def _is_whole(path: Path) -> bool:
    try:
        batches_of(path.read_bytes(), str(path))
    except (OSError, InputError):
        return False
    return True
