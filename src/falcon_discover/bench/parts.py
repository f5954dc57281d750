"""The parts of a benchmark run: the paper's study, then what goes beyond it.

Each part has a store of its own, with settings of its own: a change of the ranker asks for new
scores, not for new models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from falcon_discover.bench import actions, plan, scoring, states
from falcon_discover.bench.loading import Study
from falcon_discover.bench.run import Executor, paper_runs, planned, run_all
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER


@dataclass(frozen=True)
class Done:
    """What a part has done: runs finished now, planned, and left to another process."""

    finished: int
    planned: int
    left: int


Part = Callable[[Path, Sequence[str], Sequence[int], Sequence[str], int], Done]


def _run(store: Store, keys: list[RunKey], one: Executor) -> Done:
    finished = run_all(store, keys, one)
    return Done(finished, len(keys), sum(not store.done(key) for key in keys))


def paper(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], n_jobs: int
) -> Done:
    """Do the runs of the paper's own study."""
    keys = planned(names, seeds, chosen or plan.BACKBONES)
    return _run(Store(folder, plan.settings()), keys, paper_runs(n_jobs))


def measured(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], n_jobs: int
) -> Done:
    """Measure the states that rankers learn from."""
    store = Store(folder / plan.STATES, states.settings())
    keys = beyond_keys(folder, names, seeds, chosen)
    return _run(store, keys, lambda key: states.measure_states(key, n_jobs))


def ranked(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], n_jobs: int
) -> Done:
    """Fit the rankers on the stored states."""
    known = Store(folder / plan.STATES, states.settings())
    store = Store(folder / plan.RANKERS, scoring.settings())
    keys = [key for key in beyond_keys(folder, names, seeds, chosen) if known.done(key)]
    return _run(store, keys, scoring.scorer(known))


def acted(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], n_jobs: int
) -> Done:
    """Find regions and fit calibrators, for each split's selected backbone."""
    known = Store(folder / plan.STATES, states.settings())
    store = Store(folder / plan.ACTIONS, actions.settings())
    keys = planned(names, seeds, chosen) if chosen else selected_keys(folder, names, seeds)
    return _run(store, [key for key in keys if known.done(key)], actions.actor(known))


PARTS: dict[str, Part] = {
    "paper": paper,
    "states": measured,
    "rankers": ranked,
    "actions": acted,
}


def beyond_keys(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str]
) -> list[RunKey]:
    """Return the runs beyond the paper: each split's selected backbone first, then the grid."""
    if chosen:
        return planned(names, seeds, chosen)
    grid = [
        RunKey(name, seed, backbone)
        for backbone in plan.GRID_BACKBONES
        for seed in seeds
        for name in names
    ]
    return list(dict.fromkeys([*selected_keys(folder, names, seeds), *grid]))


def selected_keys(folder: Path, names: Sequence[str], seeds: Sequence[int]) -> list[RunKey]:
    """Return each split with the backbone that the paper's study selected for it."""
    study = Study(Store(folder))
    first = []
    for name in names:
        for seed in seeds:
            wanted = [RunKey(name, seed, backbone) for backbone in PAPER.candidates]
            if not all(study.store.done(key) for key in wanted):
                raise InputError(
                    f"the selected backbone of {name} seed {seed} is not known yet: run "
                    "'bench run --part paper' first, or name a --backbone."
                )
            first.append(RunKey(name, seed, study.selected(name, seed)))
    return first
