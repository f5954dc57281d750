"""Reference rows: what a row is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from falcon_discover.data.table import Kind, Table, kinds_of
from falcon_discover.data.view import TransformedView
from falcon_discover.metrics.decisions import class_count
from falcon_discover.models.adapter import Probe
from falcon_discover.runtime.types import Float32Array, FloatArray, UInt64Array
from falcon_discover.signals.neighbours.index import LabelledIndex
from falcon_discover.signals.opinions import Opinions
from falcon_discover.signals.support import Support


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows with known labels and out-of-fold scores, ready to be searched and mixed in.

    `encoded` is there when a model is: the rows in the space where its inputs are mixed.
    `hashes` are there when that space may hold values that can only be switched.
    """

    labels: npt.NDArray[np.int8]
    p: FloatArray
    view: TransformedView
    index: LabelledIndex
    support: Support
    probe: Probe | None
    encoded: Any
    hashes: UInt64Array | None
    opinions: Opinions | None = None

    @property
    def coordinates(self) -> Float32Array:
        """The reference rows in our own transformed view."""
        return self.index.reference

    @cached_property
    def encoded_kinds(self) -> dict[str, Kind] | None:
        """The kinds of the columns of `encoded`, where it may hold more than numbers."""
        if self.probe is not None and self.probe.head is None:
            return self.view.kinds_
        is_array = isinstance(self.encoded, np.ndarray) and self.encoded.dtype.kind in "biuf"
        if self.encoded is None or is_array or sp.issparse(self.encoded):
            return None
        return kinds_of(self.encoded)

    @property
    def recall(self) -> float:
        """Share of the nearest rows that the search finds: 1.0 unless there are very many."""
        return self.index.recall

    @classmethod
    def build(
        cls,
        table: Table,
        labels: npt.NDArray[np.int8],
        p: FloatArray,
        probe: Probe | None,
        *,
        own_view: bool = True,
        opinions_seed: int | None = None,
        n_jobs: int | None = None,
        weight: FloatArray | None = None,
    ) -> Reference:
        """Prepare reference rows.

        Parameters
        ----------
        own_view : the model's view was fitted on exactly these rows and is also ours;
            False for a frozen model, whose view comes from rows we do not have
        opinions_seed : seed of the second opinions to train on these rows, or None for none
        weight : how many rows each stands for when these are trained
        """
        view = probe.view if probe is not None and own_view else None
        if view is None:
            view = TransformedView().fit(table)
        coordinates = view.transform(table)
        encoded: Any = None
        if probe is not None:
            encoded = coordinates if probe.view is view else probe.encode(table)
        return cls(
            labels,
            p,
            view,
            LabelledIndex(coordinates, labels, n_jobs, class_count(p)),
            Support.of(coordinates),
            probe,
            encoded,
            None if probe is None or probe.view is view else table.row_hashes(),
            None
            if opinions_seed is None
            else Opinions.fit(
                coordinates,
                labels,
                seed=opinions_seed,
                n_jobs=n_jobs,
                n_classes=class_count(p),
                weight=weight,
            ),
        )

    def __len__(self) -> int:
        return len(self.labels)
