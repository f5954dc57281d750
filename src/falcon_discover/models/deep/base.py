"""What the deep models share: a scikit-learn classifier that learns from the table itself."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.models.deep.columns import Columns, Scaling
from falcon_discover.models.deep.training import (
    Rows,
    Schedule,
    chosen_device,
    probabilities,
    seeded,
    threads,
    torch_for,
    train,
)
from falcon_discover.runtime.types import FloatArray, IntArray


class DeepClassifier(ClassifierMixin, BaseEstimator):
    """A deep model of tables, with categories and gaps as they come."""

    random_state: Any
    device: str
    n_jobs: int | None
    validation_fraction: float

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows; a part of them, chosen by the seed, says when to stop.

        Parameters
        ----------
        X, y : table and labels
        """
        table = Table.from_input(X)
        validate_data(self, table.native, reset=True, skip_check_array=True)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != len(table):
            raise InputError(
                f"X has {len(table):,} rows and y {len(codes):,}: give one label each."
            )
        if len(self.classes_) < 2:
            raise InputError("y has only one class: give rows of at least two.")
        if not 0.0 < self.validation_fraction < 1.0:
            raise InputError(
                f"validation_fraction is {self.validation_fraction}: give a share of the rows "
                "between 0 and 1."
            )
        self.kinds_ = dict(table.kinds)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        known, held_out = _split(codes, self.validation_fraction, seed)
        # Early stopping looks at these rows alone, so that none outside the fit decides anything.
        self.validation_rows_ = held_out
        self._fit(table, codes, known, held_out, seed)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        table = Table.from_input(X, self.kinds_)
        validate_data(self, table.native, reset=False, skip_check_array=True)
        return self._proba(table)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class of each row."""
        found: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    def _fit(
        self, table: Table, codes: IntArray, known: IntArray, held_out: IntArray, seed: int
    ) -> None:
        raise NotImplementedError

    def _proba(self, table: Table) -> FloatArray:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class NetworkClassifier(DeepClassifier):
    """A network that this package trains itself."""

    scaling: Scaling
    batch_size: int
    max_epochs: int
    patience: int

    def _network(self, n_numbers: int, sizes: list[int], n_classes: int) -> tuple[Any, Any]:
        """Return a new network and what makes an optimizer for it."""
        raise NotImplementedError

    def _started(self, network: Any, rows: Rows, seed: int) -> None:
        """Give a network what it needs of its training rows before it is trained."""

    def _fit(
        self, table: Table, codes: IntArray, known: IntArray, held_out: IntArray, seed: int
    ) -> None:
        torch = torch_for(type(self).__name__)
        device = chosen_device(self.device)
        learned_from = table.take(known)
        self.columns_ = Columns.of(learned_from, self.scaling, seed)
        with threads(self.n_jobs), seeded(seed, device):
            network, optimizer = self._network(
                len(self.columns_.medians), self.columns_.sizes, len(self.classes_)
            )
            network.to(device)
            rows = self._rows(learned_from, device)
            self._started(network, rows, seed)
            targets = torch.as_tensor(codes, device=device)
            self.best_epoch_ = train(
                network,
                optimizer(network),
                (rows, targets[torch.as_tensor(known, device=device)]),
                (
                    self._rows(table.take(held_out), device),
                    targets[torch.as_tensor(held_out, device=device)],
                ),
                Schedule(self.batch_size, self.max_epochs, self.patience),
                seed,
            )
        self.network_ = network

    def _rows(self, table: Table, device: str) -> Rows:
        return Rows(self.columns_.numbers(table), self.columns_.codes(table), device)

    def _proba(self, table: Table) -> FloatArray:
        device = chosen_device(self.device)
        with threads(self.n_jobs):
            return probabilities(self.network_.to(device), self._rows(table, device))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "network_" in state:
            # A copy must open where there is no such device.
            state["network_"] = deepcopy(self.network_).to("cpu")
        return state


def _split(codes: IntArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return the rows to learn from and those that say when to stop, of each class its share."""
    rarest = np.bincount(codes).min()
    held_out = round(share * len(codes))
    enough = rarest >= 2 and min(held_out, len(codes) - held_out) >= len(np.unique(codes))
    known, later = train_test_split(
        np.arange(len(codes)),
        test_size=max(1, held_out),
        random_state=seed,
        stratify=codes if enough else None,
    )
    return np.sort(known), np.sort(later)
