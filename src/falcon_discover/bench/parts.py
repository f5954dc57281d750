"""The parts of a benchmark run: the paper's study, then what goes beyond it.

Each part has a store of its own, with settings of its own: a change of the ranker asks for new
scores, not for new models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from falcon_discover.bench import actions, plan, scoring, states
from falcon_discover.bench.loading import Study
from falcon_discover.bench.run import Executor, Spread, paper_runs, planned, run_all
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER


@dataclass(frozen=True, eq=False)
class Wanted:
    """Which runs are wanted in which store; no chosen backbone stands for those of the part."""

    folder: Path
    names: Sequence[str]
    seeds: Sequence[int]
    chosen: Sequence[str]


@dataclass(frozen=True)
class Done:
    """What a part has done: runs finished now, planned, and left to another process."""

    finished: int
    planned: int
    left: int


# What a part does: its store, its runs, and what does one of them on so many threads.
Part = Callable[[Wanted, int], tuple[Store, list[RunKey], Executor]]


def do(part: Part, wanted: Wanted, n_jobs: int, spread: Spread | None = None) -> Done:
    """Do the runs of a part that are not done; `spread` is who does them if not this process."""
    store, keys, one = part(wanted, n_jobs)
    finished = run_all(store, keys, one, spread)
    return Done(finished, len(keys), sum(not store.done(key) for key in keys))


def paper(wanted: Wanted, n_jobs: int) -> tuple[Store, list[RunKey], Executor]:
    """Do the runs of the paper's own study."""
    keys = planned(wanted.names, wanted.seeds, wanted.chosen or plan.BACKBONES)
    return Store(wanted.folder, plan.settings()), keys, paper_runs(n_jobs)


def measured(wanted: Wanted, n_jobs: int) -> tuple[Store, list[RunKey], Executor]:
    """Measure the states that rankers learn from."""
    store = Store(wanted.folder / plan.STATES, states.settings())
    return store, beyond_keys(wanted), lambda key: states.measure_states(key, n_jobs)


def ranked(wanted: Wanted, n_jobs: int) -> tuple[Store, list[RunKey], Executor]:
    """Fit the rankers on the stored states."""
    known = Store(wanted.folder / plan.STATES, states.settings())
    store = Store(wanted.folder / plan.RANKERS, scoring.settings())
    keys = [key for key in beyond_keys(wanted) if known.done(key)]
    return store, keys, scoring.scorer(known)


def acted(wanted: Wanted, n_jobs: int) -> tuple[Store, list[RunKey], Executor]:
    """Find regions and fit calibrators, for each split's selected backbone."""
    known = Store(wanted.folder / plan.STATES, states.settings())
    store = Store(wanted.folder / plan.ACTIONS, actions.settings())
    keys = [key for key in _chosen_keys(wanted) or selected_keys(wanted) if known.done(key)]
    return store, keys, actions.actor(known)


PARTS: dict[str, Part] = {"paper": paper, "states": measured, "rankers": ranked, "actions": acted}


def _chosen_keys(wanted: Wanted) -> list[RunKey]:
    return planned(wanted.names, wanted.seeds, wanted.chosen)


def beyond_keys(wanted: Wanted) -> list[RunKey]:
    """Return the runs beyond the paper: each split's selected backbone first, then the grid."""
    if wanted.chosen:
        return _chosen_keys(wanted)
    grid = [
        RunKey(name, seed, backbone)
        for backbone in plan.GRID_BACKBONES
        for seed in wanted.seeds
        for name in wanted.names
    ]
    return list(dict.fromkeys([*selected_keys(wanted), *grid]))


def selected_keys(wanted: Wanted) -> list[RunKey]:
    """Return each split with the backbone that the paper's study selected for it."""
    study = Study(Store(wanted.folder))
    first = []
    for name, seed in product(wanted.names, wanted.seeds):
        candidates = [RunKey(name, seed, backbone) for backbone in PAPER.candidates]
        if not all(study.store.done(key) for key in candidates):
            raise InputError(
                f"the selected backbone of {name} seed {seed} is not known yet: run "
                "'bench run --part paper' first, or name a --backbone."
            )
        first.append(RunKey(name, seed, study.selected(name, seed)))
    return first
