"""RealMLP, as its authors' package pytabkit has it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.data.table import Table
from falcon_discover.models.deep.base import DeepClassifier
from falcon_discover.models.deep.columns import Columns
from falcon_discover.models.deep.training import chosen_device, threads
from falcon_discover.runtime.optional import require
from falcon_discover.runtime.types import FloatArray, IntArray

PREDICT_BATCH = 8192


class RealMLPClassifier(DeepClassifier):
    """RealMLP with its authors' tuned defaults (Holzmüller et al., 2024).

    Parameters
    ----------
    label_smoothing : True is the authors' default, which pulls confidence away from 1. False is
        what they advise for log loss: no smoothing, and the epoch with the least log loss on the
        held-out part instead of the fewest errors
    max_epochs : how long it is trained; the best epoch is kept
    validation_fraction : share of the rows of a fit that is held out to choose it
    random_state : seed; the same one gives the same model, on a CPU with as many threads
    device : "auto" (a GPU if there is one), "cpu" or "cuda"
    n_jobs : threads; None for as many as torch takes
    """

    def __init__(
        self,
        *,
        label_smoothing: bool = False,
        max_epochs: int = 256,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.label_smoothing = label_smoothing
        self.max_epochs = max_epochs
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs

    def _fit(
        self, table: Table, codes: IntArray, known: IntArray, held_out: IntArray, seed: int
    ) -> None:
        device = chosen_device(self.device)
        with _quiet():
            package = require("pytabkit", extra="deep", what="RealMLP")
        self.columns_ = Columns.of(table.take(known), "standard")
        options = {"use_ls": False, "val_metric_name": "cross_entropy"}
        model = package.RealMLP_TD_Classifier(
            device=device,
            random_state=seed,
            n_epochs=self.max_epochs,
            n_threads=self.n_jobs,
            predict_batch_size=PREDICT_BATCH,
            **({} if self.label_smoothing else options),
        )
        with threads(self.n_jobs), _quiet():
            model.fit(self._frame(table), codes, val_idxs=held_out)
        self.model_ = model

    def _proba(self, table: Table) -> FloatArray:
        with threads(self.n_jobs), _quiet():
            return np.asarray(self.model_.predict_proba(self._frame(table)), dtype=np.float64)

    def _frame(self, table: Table) -> pd.DataFrame:
        """Return imputed numbers, which pytabkit scales itself, and categories by their codes."""
        columns = self.columns_
        names = [name for name in columns.kinds if name not in columns.categories]
        numbers = pd.DataFrame(columns.imputed(table), columns=names)
        codes = columns.codes(table)
        categories = {
            name: pd.Categorical.from_codes(codes[:, place], range(size))
            for place, (name, size) in enumerate(
                zip(columns.categories, columns.sizes, strict=True)
            )
        }
        return pd.concat([numbers, pd.DataFrame(categories, index=numbers.index)], axis=1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the trainer's own words, which speak to its developers, from the user."""
    loggers = [
        logging.getLogger(name)
        for name in ("pytorch_lightning", "lightning_fabric", "lightning.pytorch")
    ]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
