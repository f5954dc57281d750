"""A run of the scorer over a plan: resumable, one writer, every file whole or absent.

OUT/_plan.json           what is scored and how; another plan is refused
OUT/part-00000.parquet   one file per part, in the order of the input
OUT/_DONE.json           written last
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falcon_discover import progress
from falcon_discover.engines.plan import PART_ROWS, Part, Plan, first_difference
from falcon_discover.engines.scorer import Scored, check_columns, score_part
from falcon_discover.exceptions import InputError
from falcon_discover.loading import load
from falcon_discover.persistence.archive import replacing

# Readers of parquet folders pass over names that begin with an underscore.
PLAN, DONE = "_plan.json", "_DONE.json"
Engine = Callable[[bytes, Sequence[Part], str | None], Iterator[Scored]]


@dataclass(frozen=True)
class Run:
    """What a run did: rows and parts in all, parts done now, and what was noticed."""

    rows: int
    parts: int
    scored_now: int
    notes: tuple[str, ...]


def local(*, trusted: Collection[str] = (), n_jobs: int | None = None) -> Engine:
    """Return the engine that scores one part after another in this process."""

    def run(audit: bytes, parts: Sequence[Part], identity: str | None) -> Iterator[Scored]:
        falcon = load(audit, trusted=trusted, n_jobs=n_jobs)
        for part in parts:
            with progress.silent():
                scored = score_part(falcon, part, identity)
            yield scored

    return run


def score_files(
    audit: Path,
    data: Sequence[Path],
    out: Path,
    *,
    engine: Engine | None = None,
    part_rows: int = PART_ROWS,
    identity: str | None = None,
    trusted: Collection[str] = (),
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
    trusted : further types that the audit may hold, as in `load`
    """
    if not audit.is_file():
        raise InputError(f"there is no file {audit}.")
    saved = audit.read_bytes()
    plan = Plan.of(saved, data, part_rows=part_rows, identity=identity)
    falcon = load(saved, trusted=trusted)
    check_columns(falcon, [source.file for source in plan.sources], identity)
    del falcon
    parts = plan.parts()
    with _claimed(out, plan.to_dict()):
        # A part is there only when it is whole, so what is there need not be done again.
        missing = [part for part in parts if not (out / part.name).exists()]
        notes = _write(out, (engine or local(trusted=trusted))(saved, missing, identity), missing)
        totals = {"rows": plan.rows, "parts": len(parts), "files": len(plan.sources)}
        _write_json(out / DONE, totals)
    return Run(plan.rows, len(parts), len(missing), tuple(notes))


def _write(out: Path, finished: Iterable[Scored], parts: Sequence[Part]) -> dict[str, None]:
    names = {part.number: part.name for part in parts}
    notes: dict[str, None] = {}
    progress.expect(len(parts))
    for done, scored in enumerate(finished, start=1):
        with replacing(out / names[scored.number]) as file:
            file.write(scored.data)
        notes |= dict.fromkeys(scored.notes)
        progress.step(f"{done} of {len(parts)} parts written")
    return notes


@contextmanager
def _claimed(out: Path, plan: dict[str, Any]) -> Iterator[None]:
    """Hold the folder for this run alone, and hold the run to the folder's plan."""
    out.mkdir(parents=True, exist_ok=True)
    # The system releases the lock when its holder dies, however that happens.
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"another run is writing into {out}: wait for it.") from error
        known = out / PLAN
        if known.exists():
            differs = first_difference(json.loads(known.read_text()), plan)
            if differs is not None:
                raise InputError(
                    f"{out} holds results of another run: {differs}. Give another folder, or empty "
                    "this one."
                )
        elif any(path.name != ".lock" for path in out.iterdir()):
            raise InputError(f"{out} is not empty and holds no run: give another folder.")
        else:
            _write_json(known, plan)
        for leftover in out.glob(".*.partial"):
            leftover.unlink()
        yield


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as file:
        file.write((json.dumps(content, indent=2) + "\n").encode())
