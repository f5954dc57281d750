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

OLD_CURVES = ("capture", "confidence", "signals")
OLD_PLOTS = ("calibration", "confidence", "regions", "review", "signals", "weights")
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
    "crossfit": ("models.crossfit", "models.folds", "models.fitting"),
    "curves": ("evaluation.curves", "audit.curves"),
    **{f"curves.{name}": ("evaluation.curves",) for name in OLD_CURVES},
    "curves.finding": ("audit.curves", "audit.finding"),
    "curves.recalibration": ("evaluation.recalibration",),
    "discovery": ("audit.finding",),
    "engines": ("scoring",),
    "estimator": ("audit.estimator",),
    "files": ("data.files", "storage.objects", "runtime.atomic", "runtime.records"),
    "guarantee": ("evaluation.budget", "evaluation.bounds"),
    "inference": ("metrics.intervals",),
    "interrupts": ("runtime.interrupts",),
    "loading": ("storage.load",),
    "mixing": ("models.adapter", "signals.mixing"),
    "neighbours": ("signals.neighbours.index",),
    "opinions": ("signals.opinions",),
    "persistence": ("storage",),
    **{f"plots.{name}": ("plots",) for name in OLD_PLOTS},
    "predicting": ("models.proba",),
    "predictions": ("audit.predictions",),
    "progress": ("runtime.progress",),
    "rankers.blend": ("rankers.evidence", "rankers.risk"),
    "reasons": ("audit.review",),
    "report.charts": ("plots.charts",),
    "report.format": ("runtime.format",),
    "report.measures": ("report.sections",),
    "report.render": ("report.write", "report.sections"),
    "report.sides": ("report.sections.sides",),
    "results": ("evaluation.results",),
    "search": ("signals.neighbours.backends",),
    "shelf": ("models.spill",),
    "tables": ("data.table", "data.labels", "runtime.types"),
    "threads": ("runtime.threads",),
    "view": ("data.view",),
    "words": ("runtime.words",),
}


# Names that have changed with the module.
RENAMED = {
    "Blend": "EvidenceModel",
    "Discovery": "Finding",
    "Measure": "StateBuilder",
    "OwnDoubt": "ModelDoubt",
    "OfScores": "ScoreCalibrator",
    "Question": "AuditRequest",
    "Shelf": "SpillingList",
    "allows_gaps": "accepts_missing",
    "put_back": "restore_boosters",
    "replacing": "atomic_write",
    "shown": "label_repr",
    "summary_json": "json_text",
    "taken_out": "extract_boosters",
    "telling_columns": "informative_columns",
}


def new_names(module: str) -> tuple[str, ...]:
    """Return where what was in a module of the package is now; none if it has not moved.

    Examples
    --------
    >>> new_names("falcon_discover.engines.rows")
    ('falcon_discover.scoring.rows',)
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


def deprecated(old: str, new: str, stacklevel: int = 3) -> None:
    """Say that a name goes with the next release."""
    warnings.warn(
        f"{old} is now {new}; the old name will be removed in the next release.",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


def moved_attribute(module: str, name: str) -> Any:
    """Return what was called `name` in a module that has moved."""
    now = RENAMED.get(name, name)
    # Whoever walks the loaded modules asks for `__file__` and the like: an old name has none.
    for new in () if name.startswith("__") else new_names(module):
        try:
            found = getattr(import_module(new), now)
        except (AttributeError, ModuleNotFoundError):
            continue
        deprecated(f"{module}.{name}", f"{new}.{now}", stacklevel=4)
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
