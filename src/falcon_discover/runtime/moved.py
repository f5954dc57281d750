"""Modules that have moved: their old names work for one release, with a warning.

Public names (`falcon_discover.__all__`) have not moved. Saved audits name classes by module, so
files of earlier releases are read through the same table.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = "falcon_discover"

# Modules of 0.1.0, and where what was in them is now.
MOVED = {
    "answers": ("audit.estimator",),
    "audit": ("cli.request", "datasets.splits"),
    "backbones": ("models.library",),
    "baselines": ("calibration.calibrators", "rankers.failure", "rankers.trust"),
    "baselines.calibrators": ("calibration.calibrators",),
    "baselines.failure": ("rankers.failure",),
    "baselines.trustscore": ("rankers.trust",),
    "checks": ("audit.checks",),
    "contributions": ("evaluation.contributions",),
    "crossfit": ("models.crossfit", "models.fitting"),
    "curves": ("evaluation.curves",),
    "discovery": ("audit.finding",),
    "engines": ("scoring",),
    "estimator": ("audit.estimator",),
    "files": ("data.files", "storage.objects", "runtime.atomic"),
    "guarantee": ("evaluation.budget", "evaluation.bounds"),
    "inference": ("metrics.intervals",),
    "interrupts": ("runtime.interrupts",),
    "loading": ("storage.load",),
    "mixing": ("models.adapter", "signals.mixing"),
    "neighbours": ("signals.neighbours.index",),
    "opinions": ("signals.opinions",),
    "persistence": ("storage",),
    "predicting": ("models.proba",),
    "predictions": ("audit.predictions",),
    "progress": ("runtime.progress",),
    "reasons": ("audit.review",),
    "results": ("evaluation.results",),
    "search": ("signals.neighbours.backends",),
    "shelf": ("models.spill",),
    "tables": ("data.table", "data.labels", "runtime.types"),
    "threads": ("runtime.threads",),
    "view": ("data.view",),
    "words": ("runtime.words",),
}


def new_names(module: str) -> tuple[str, ...]:
    """Return where what was in a module of the package is now; none if it has not moved.

    Examples
    --------
    >>> new_names("falcon_discover.curves.capture")
    ('falcon_discover.evaluation.curves.capture',)
    >>> new_names("falcon_discover.settings")
    ()
    """
    package, _, head = module.partition(".")
    tail = ""
    while package == PACKAGE and head:
        if head in MOVED:
            return tuple(f"{PACKAGE}.{new}{tail}" for new in MOVED[head])
        head, dot, last = head.rpartition(".")
        tail = f"{dot}{last}{tail}"
    return ()


def moved_attribute(module: str, name: str) -> Any:
    """Return what was called `name` in a module that has moved."""
    for new in new_names(module):
        try:
            found = getattr(import_module(new), name)
        except (AttributeError, ModuleNotFoundError):
            continue
        warnings.warn(
            f"{module}.{name} is now {new}.{name}; the old name goes with the next release.",
            DeprecationWarning,
            stacklevel=3,
        )
        return found
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


class _OldName(Loader):
    """Makes a module that holds nothing and knows where everything is."""

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = []
        vars(module)["__getattr__"] = lambda name: moved_attribute(module.__name__, name)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Asked last: what is there is found by others.
        return ModuleSpec(fullname, _OldName()) if new_names(fullname) else None


def keep_old_names() -> None:
    """Let modules be imported by the names they had."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
