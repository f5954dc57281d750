"""SAINT: attention between the columns of a row, and in its full form between rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from falcon_discover.models.deep.base import NetworkClassifier
from falcon_discover.models.deep.training import Rows, torch_for

RATE = 1e-4
WEIGHT_DECAY = 1e-2
# Beyond as many columns a vector of 32 numbers each makes the layers between rows too wide.
MANY_COLUMNS = 100
WIDTH, WIDTH_OF_MANY = 32, 8
# Depth, heads and dropout, by whether rows attend to rows.
SHAPES: dict[bool, dict[str, Any]] = {
    False: {"depth": 6, "heads": 8, "dropout": 0.1},
    True: {"depth": 1, "heads": 4, "dropout": 0.8},
}


class SaintClassifier(NetworkClassifier):
    """SAINT, written from its description (Somepalli et al., 2021), trained without pretraining.

    Parameters
    ----------
    rows : False for attention between columns only (SAINT-s: depth 6, 8 heads, dropout 0.1), True
        for attention between columns and between rows (depth 1, 4 heads, dropout 0.8). A row is
        then scored against a fixed set of training rows, never against others asked about
    context_rows : how many training rows that set has
    batch_size, max_epochs, patience : training ends when the log loss of the held-out part has not
        fallen for `patience` epochs
    validation_fraction : share of the rows of a fit that is held out for that
    random_state : seed; the same one gives the same model, on a CPU with as many threads
    device : "auto" (a GPU if there is one), "cpu" or "cuda"
    n_jobs : threads; None for as many as torch takes
    """

    scaling = "standard"

    def __init__(
        self,
        *,
        rows: bool = False,
        context_rows: int = 255,
        batch_size: int = 256,
        max_epochs: int = 100,
        patience: int = 10,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.rows = rows
        self.context_rows = context_rows
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs

    def _network(self, n_numbers: int, sizes: list[int], n_classes: int) -> tuple[Any, Any]:
        torch = torch_for("SAINT")
        from falcon_discover.models.deep.networks import Saint

        many = n_numbers + len(sizes) > MANY_COLUMNS
        network = Saint(
            n_numbers,
            sizes,
            n_classes,
            width=WIDTH_OF_MANY if many else WIDTH,
            rows=self.rows,
            **SHAPES[self.rows],
        )
        adamw = partial(torch.optim.AdamW, lr=RATE, weight_decay=WEIGHT_DECAY)
        return network, lambda made: adamw(made.parameters())

    def _started(self, network: Any, rows: Rows, seed: int) -> None:
        if self.rows:
            size = min(self.context_rows, len(rows))
            places = np.random.default_rng(seed).choice(len(rows), size, replace=False)
            network.remember(*rows.parts(np.sort(places)))
