"""A run of the scorer over a plan: resumable, one writer, every file whole or absent.

OUT/_plan.json           what is scored and how; another plan is refused
OUT/part-00000.parquet   one file per part, in the order of the input
OUT/_queue/              the riskiest rows with reasons, where a queue was asked for
OUT/_DONE.json           written last
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import review_size
from falcon_discover.runtime import locks, notices, progress
from falcon_discover.runtime.atomic import PARTIAL, atomic_write, settle, write_text
from falcon_discover.runtime.records import json_text
from falcon_discover.scoring import rows
from falcon_discover.scoring.plan import PART_ROWS, Part, Plan, difference
from falcon_discover.scoring.queue import Rule, Tally, write_queue
from falcon_discover.scoring.scorer import Scored, check_columns, score_part
from falcon_discover.storage.load import load

# Readers of parquet folders pass over names that begin with an underscore.
PLAN, DONE, LOCK = "_plan.json", "_DONE.json", ".lock"
# What is done with each part; a cluster sends it to its workers.
Task = Callable[[FalconDiscover, Part], Scored]
Engine = Callable[[bytes, Sequence[Part], Task], Iterator[Scored]]


@dataclass(frozen=True)
class Run:
    """What a run did.

    Attributes
    ----------
    rows, parts, scored_now : rows and parts in all, and parts done now
    notes : what was noticed
    eligible, expected : rows that could be confident errors, and how many of them are expected to
        be wrong; None where the ranker knows no risk
    queued, queue : rows in the review queue, and its page; None where none was asked for
    """

    rows: int
    parts: int
    scored_now: int
    notes: tuple[str, ...]
    eligible: int
    expected: float | None
    queued: int = 0
    queue: Path | None = None


def local(*, trusted: Collection[str] = (), n_jobs: int | None = None) -> Engine:
    """Return the engine that takes one part after another in this process."""

    def run(audit: bytes, parts: Sequence[Part], task: Task) -> Iterator[Scored]:
        falcon = load(audit, trusted=trusted, n_jobs=n_jobs)
        for part in parts:
            with progress.silent():
                done = task(falcon, part)
            yield done

    return run


def score_files(
    audit: Path,
    data: Sequence[Path],
    out: Path,
    *,
    engine: Engine | None = None,
    part_rows: int = PART_ROWS,
    identity: str | None = None,
    proba: Sequence[str] = (),
    trusted: Collection[str] = (),
    queue: float | None = None,
) -> Run:
    """Score files with a saved audit and write one parquet file per part.

    Parameters
    ----------
    audit : what `FalconDiscover.save` wrote
    data : parquet files and folders of them; CSV and Feather files are read whole
    out : folder for the results; parts that are there already are kept
    engine : who scores; this process if None
    part_rows : rows per output file
    identity : column that identifies a row; without it, file and row number do
    proba : for an audit of the estimator "precomputed": the column with the scores of the rows, or
        one for each class, called by it
    trusted : further types that the audit may hold, as in `load`
    queue : how many of the riskiest rows to list for review, with reasons: a share of the rows, or
        a number of them; None for no list
    """
    if not audit.is_file():
        raise InputError(f"there is no file {audit}: check the path.")
    check_apart(out, data)
    saved = audit.read_bytes()
    try:
        with notices.collected() as notes:
            plan = Plan.of(saved, data, part_rows=part_rows, identity=identity, proba=proba)
            falcon = load(saved, trusted=trusted)
            check_columns(falcon, plan)
            rule = Rule(falcon.audit_.tau, falcon.classes_)
            # Another process may be the one that scores; this one needs its memory.
            del falcon
            if queue is not None:
                review_size(plan.rows, queue)
        parts = plan.parts()
        with claimed(out, plan.to_dict()):
            # What is there and whole need not be done again.
            missing = [part for part in parts if not _is_whole(out / part.name, part)]
            task = partial(score_part, identity=identity)
            finished = (engine or local(trusted=trusted))(saved, missing, task)
            notes |= write_parts(finished, {part.number: out / part.name for part in missing})
            for source in plan.sources:
                source.check_unchanged()
            tally, page = Tally.of(plan, out, rule, queue), None
            if queue is not None:
                progress.expect(1)
                progress.step("review queue")
                with progress.silent():
                    page = write_queue(load(saved, trusted=trusted), plan, out, tally)
            totals = {"rows": plan.rows, "parts": len(parts), "files": len(plan.sources)}
            write_text(out / DONE, json_text(totals))
    finally:
        rows.forget()
    return Run(
        plan.rows,
        len(parts),
        len(missing),
        tuple(notes),
        tally.eligible,
        tally.expected,
        len(tally.top),
        page,
    )


def check_apart(out: Path, data: Sequence[Path]) -> None:
    """Raise if results would be taken for data the next time."""
    place = out.resolve()
    for folder in data:
        if folder.is_dir() and folder.resolve() in (place, *place.parents):
            raise InputError(
                f"{out} is inside {folder}, which holds the data: give a folder elsewhere."
            )


def _is_whole(path: Path, part: Part) -> bool:
    """Return whether a part is there, with all its rows and as it was written."""
    try:
        found = pq.read_table(path, page_checksum_verification=True)
        return len(found) == part.stop - part.start
    except (OSError, pa.ArrowException):
        return False


def write_parts(finished: Iterable[Scored], paths: Mapping[int, Path]) -> dict[str, None]:
    """Write each part as it comes, by its number, and return what was noticed."""
    notes: dict[str, None] = {}
    progress.expect(len(paths))
    for done, scored in enumerate(finished, start=1):
        with atomic_write(paths[scored.number]) as (file,):
            file.write(scored.data)
        notes |= dict.fromkeys(scored.notes)
        progress.step(f"{done} of {len(paths)} parts written")
    return notes


@contextmanager
def claimed(out: Path, plan: dict[str, Any]) -> Iterator[None]:
    """Hold the folder for this run alone, and hold the run to the folder's plan."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be created: {error.strerror}.") from error
    with locks.held(out / LOCK) as mine:
        if not mine:
            raise InputError(f"another run is writing to {out}: wait for it to finish.")
        known = out / PLAN
        if known.exists():
            differs = difference(_read_plan(known), plan)
            if differs is not None:
                raise InputError(
                    f"{out} contains the results of another run: {differs}. Give another folder, "
                    "or empty this one."
                )
        # A run that died before its plan was written left no more than half of it.
        elif any(p.name != LOCK and not p.match(f".{PLAN}-*{PARTIAL}") for p in out.iterdir()):
            raise InputError(f"{out} is not empty and contains no run: give another folder.")
        else:
            write_text(known, json_text(plan))
        for place in (out, *(inside for inside in out.iterdir() if inside.is_dir())):
            settle(place)
            for leftover in place.glob(f".*{PARTIAL}"):
                leftover.unlink()
        yield


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        plan = json.loads(path.read_bytes())
        readable = all("file" in source for source in plan["files"])
    except (ValueError, TypeError, KeyError):
        readable = False
    if not readable:
        raise InputError(f"{path} is damaged: give another folder, or empty this one.")
    return dict(plan)
