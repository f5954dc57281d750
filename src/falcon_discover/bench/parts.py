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
from falcon_discover.bench.run import Executor, Spread, paper_runs, planned, run_all
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.settings import PAPER


@dataclass(frozen=True)
class Done:
    """What a part has done: runs finished now, planned, and left to another process."""

    finished: int
    planned: int
    left: int


@dataclass(frozen=True)
class Means:
    """What runs are done with: threads of a run, and who does them (None for this process)."""

    n_jobs: int
    spread: Spread | None = None


Part = Callable[[Path, Sequence[str], Sequence[int], Sequence[str], Means], Done]


def _run(store: Store, keys: list[RunKey], one: Executor, means: Means) -> Done:
    finished = run_all(store, keys, one, means.spread)
    return Done(finished, len(keys), sum(not store.done(key) for key in keys))


def paper(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], means: Means
) -> Done:
    """Do the runs of the paper's own study."""
    keys = planned(names, seeds, chosen or plan.BACKBONES)
    return _run(Store(folder, plan.settings()), keys, paper_runs(means.n_jobs), means)


def measured(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], means: Means
) -> Done:
    """Measure the states that rankers learn from."""
    store = Store(folder / plan.STATES, states.settings())
    keys = beyond_keys(folder, names, seeds, chosen)
    n_jobs = means.n_jobs
    return _run(store, keys, lambda key: states.measure_states(key, n_jobs), means)


def ranked(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], means: Means
) -> Done:
    """Fit the rankers on the stored states."""
    known = Store(folder / plan.STATES, states.settings())
    store = Store(folder / plan.RANKERS, scoring.settings())
    keys = [key for key in beyond_keys(folder, names, seeds, chosen) if known.done(key)]
    return _run(store, keys, scoring.scorer(known), means)


def acted(
    folder: Path, names: Sequence[str], seeds: Sequence[int], chosen: Sequence[str], means: Means
) -> Done:
    """Find regions and fit calibrators, for each split's selected backbone."""
    known = Store(folder / plan.STATES, states.settings())
    store = Store(folder / plan.ACTIONS, actions.settings())
    keys = planned(names, seeds, chosen) if chosen else selected_keys(folder, names, seeds)
    keys = [key for key in keys if known.done(key)]
    return _run(store, keys, actions.actor(known), means)


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
