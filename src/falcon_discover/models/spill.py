"""Fitted models that are not needed yet; the large ones wait on disk.

A forest of fully grown trees on 100,000 rows takes a gigabyte, and cross-fitting makes one for each
fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import joblib

from falcon_discover.models.proba import FORESTS

# About 160 megabytes.
LARGE_NODES = 2_000_000


class SpillingList:
    """Models in the order they were put here, one at a time in memory if they are large.

    Examples
    --------
    >>> models = SpillingList()
    >>> models.append("a model")
    >>> list(models)
    ['a model']
    """

    def __init__(self) -> None:
        self._models: list[Any] = []
        self._folder: Path | None = None

    def append(self, model: Any) -> None:
        """Take a model."""
        self._models.append(self._written(model) if _nodes(model) > LARGE_NODES else model)

    def __iter__(self) -> Iterator[Any]:
        for model in self._models:
            yield joblib.load(model) if isinstance(model, Path) else model

    def _written(self, model: Any) -> Any:
        """Return the file it is in now; the model itself if there is no room on the disk."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="falcon-discover-"))
            # Removed with the shelf, or when the program ends.
            finalize(self, rmtree, self._folder, ignore_errors=True)
        file = self._folder / f"{len(self._models)}.joblib"
        try:
            joblib.dump(model, file)
        except OSError:
            file.unlink(missing_ok=True)
            return model
        return file


def _nodes(model: Any) -> int:
    if not isinstance(model, FORESTS):
        return 0
    return sum(tree.tree_.node_count for tree in model.estimators_)
