"""Second opinions: what other models, trained on the reference rows, say about a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from falcon_discover import progress
from falcon_discover.backbones import OPINIONS
from falcon_discover.crossfit import fit_candidate
from falcon_discover.mixing import Probe
from falcon_discover.tables import FloatArray, IntArray, telling_columns


@dataclass(frozen=True, eq=False)
class Opinions:
    """Cheap, diverse models on the transformed view of the reference rows.

    Examples
    --------
    >>> rows = np.linspace(-1, 1, 80, dtype=np.float32)[:, None]
    >>> opinions = Opinions.fit(rows, (rows[:, 0] > 0).astype(int), seed=0)
    >>> opinions.predict(rows[[0, -1]]).round()
    array([[0., 0., 0.],
           [1., 1., 1.]])
    """

    models: dict[str, Any]
    columns: IntArray

    @classmethod
    def fit(
        cls,
        coordinates: npt.NDArray[np.float32],
        labels: npt.NDArray[np.integer],
        *,
        seed: int,
        n_jobs: int | None = None,
    ) -> Opinions:
        """Fit one model of each kind; with one class only there is nothing to have views on."""
        columns = telling_columns(coordinates)
        if len(np.unique(labels)) < 2 or not len(columns):
            return cls({}, columns)
        rows, models = coordinates[:, columns], {}
        progress.expect(len(OPINIONS))
        for name, candidate in OPINIONS.items():
            progress.step(f"second opinions: {name}")
            models[name] = fit_candidate(
                candidate, rows, labels, seed=seed, n_jobs=effective_n_jobs(n_jobs)
            )
        return cls(models, columns)

    def predict(self, coordinates: npt.NDArray[np.float32]) -> FloatArray:
        """Return positive-class scores, one column per model."""
        rows = coordinates[:, self.columns]
        said = [
            Probe(model, column=1).predict(rows.astype(OPINIONS[name].dtype, copy=False))
            for name, model in self.models.items()
        ]
        return np.column_stack(said) if said else np.empty((len(rows), 0))
