"""The store of the benchmark: a folder whose paths say what each run is.

    STORE/settings.json                          what every run in it was made with
    STORE/<data set>/seed-<seed>/<backbone>/     one run, visible only when it is complete
        oof.parquet     training rows: row, label, fold, out-of-fold p
        rows.parquet    validation and test rows: row, split, label, p, signals, mixes
        scores.parquet  the same rows: every ranker's and baseline's score, region
        report.json     settings hash, versions, seconds per stage, peak memory
        DONE

Parquet and JSON only. A run is written beside its place and moved there in one step, so it is
either absent or whole. A lock that the system releases when its holder dies keeps
two runners from doing the same run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import locks
from falcon_discover.runtime.atomic import write_text
from falcon_discover.runtime.records import first_difference

DONE = "DONE"
SETTINGS = "settings.json"


@dataclass(frozen=True, order=True)
class RunKey:
    """Which run: data set, seed and backbone."""

    dataset: str
    seed: int
    backbone: str

    def __str__(self) -> str:
        return f"{self.dataset}/seed-{self.seed}/{self.backbone}"


class Store:
    """A folder of finished runs, all made with the same settings.

    Parameters
    ----------
    folder : where it is
    settings : what runs are made with now; None to take what the store says
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        known = folder / SETTINGS
        if settings is not None:
            folder.mkdir(parents=True, exist_ok=True)
            if not known.exists():
                write_text(known, json.dumps(settings, indent=2, sort_keys=True) + "\n")
        if not known.is_file():
            raise InputError(f"{folder} is not a benchmark store: make one with 'bench run'.")
        self.settings = _read_json(known, "use another folder")
        if settings is not None and settings_hash(settings) != settings_hash(self.settings):
            differs = first_difference(self.settings, settings)
            raise InputError(
                f"the store {folder} was made with settings {settings_hash(self.settings)}, but "
                f"this version has {settings_hash(settings)}: use another folder, or the version "
                f"that made it. First difference: {differs}."
            )

    @cached_property
    def hash(self) -> str:
        """The settings hash that every run of this store carries."""
        return settings_hash(self.settings)

    def path(self, key: RunKey) -> Path:
        """Return the folder of a run, whether it exists or not."""
        return self.folder / key.dataset / f"seed-{key.seed}" / key.backbone

    def done(self, key: RunKey) -> bool:
        """Return whether a run is complete."""
        return (self.path(key) / DONE).is_file()

    def runs(self) -> list[RunKey]:
        """Return all complete runs."""
        marks = self.folder.glob(f"*/seed-*/*/{DONE}")
        return sorted(
            RunKey(m.parts[-4], int(seed), m.parts[-2])
            for m in marks
            if not m.parts[-2].startswith(".")
            and (seed := m.parts[-3].removeprefix("seed-")).isdecimal()
        )

    def read(self, key: RunKey, name: str, columns: list[str] | None = None) -> pd.DataFrame:
        """Return one of a run's tables."""
        path = self.path(key) / f"{name}.parquet"
        try:
            return pd.read_parquet(path, columns=columns)
        except (OSError, ValueError, KeyError) as error:
            why = str(error).partition("\n")[0]
            raise InputError(f"{path} cannot be read ({why}): delete that run.") from error

    def report(self, key: RunKey) -> dict[str, Any]:
        """Return a run's report, checked to belong to this store's settings."""
        report = _read_json(self.path(key) / "report.json", "delete that run")
        if report.get("settings_hash") != self.hash:
            raise InputError(
                f"run {key} was made with settings {report.get('settings_hash')}, but the store "
                f"has {self.hash}: delete that run."
            )
        return report

    @contextmanager
    def claim(self, key: RunKey) -> Iterator[bool]:
        """Try to become the only one who works on a run; yields whether that worked."""
        place = self.path(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        with locks.held(place.parent / f".{key.backbone}.lock") as mine:
            yield mine and not self.done(key)

    def write(
        self, key: RunKey, tables: Mapping[str, pd.DataFrame], report: Mapping[str, Any]
    ) -> None:
        """Put a complete run in its place; the caller holds its claim."""
        place = self.path(key)
        scratch = place.parent / f".{key.backbone}.partial"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for name, table in tables.items():
            table.to_parquet(scratch / f"{name}.parquet", compression="zstd", index=False)
        text = json.dumps({**report, "settings_hash": self.hash}, indent=2)
        (scratch / "report.json").write_text(text + "\n")
        (scratch / DONE).touch()
        # What is there is not DONE, or the claim would have said so.
        shutil.rmtree(place, ignore_errors=True)
        scratch.rename(place)


def settings_hash(settings: Mapping[str, Any]) -> str:
    """Return a short hash of settings.

    Examples
    --------
    >>> settings_hash({"a": 1}) == settings_hash({"a": 1.0})
    False
    """
    text = json.dumps(settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _read_json(path: Path, remedy: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}): {remedy}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} has changed since it was written: {remedy}.")
    return content
