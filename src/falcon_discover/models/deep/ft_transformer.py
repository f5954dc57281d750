"""FT-Transformer: a token per column, attention between the columns of a row."""

from __future__ import annotations

from typing import Any

from falcon_discover.models.deep.base import NetworkClassifier
from falcon_discover.runtime.optional import require


class FTTransformerClassifier(NetworkClassifier):
    """FT-Transformer with its authors' defaults (Gorishniy et al., 2021).

    The network is that of the package `rtdl_revisiting_models`: three blocks of width 192 with
    8 heads, AdamW at rate 1e-4 and weight decay 1e-5, numbers by their quantiles.

    Parameters
    ----------
    batch_size, max_epochs, patience : training ends when the log loss of the held-out part has not
        fallen for `patience` epochs
    validation_fraction : share of the rows of a fit that is held out for that
    random_state : seed; the same one gives the same model, on a CPU with as many threads
    device : "auto" (a GPU if there is one), "cpu" or "cuda"
    n_jobs : threads; None for as many as torch takes
    """

    scaling = "quantile"

    def __init__(
        self,
        *,
        batch_size: int = 512,
        max_epochs: int = 200,
        patience: int = 16,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.n_jobs = n_jobs

    def _network(self, n_numbers: int, sizes: list[int], n_classes: int) -> tuple[Any, Any]:
        rtdl = require("rtdl_revisiting_models", extra="deep", what="FT-Transformer")
        network = rtdl.FTTransformer(
            n_cont_features=n_numbers,
            cat_cardinalities=sizes,
            d_out=n_classes,
            **rtdl.FTTransformer.get_default_kwargs(),
        )
        return network, rtdl.FTTransformer.make_default_optimizer
