"""Models that misbehave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin


class ModelError(Exception):
    """A model's own error, which is its author's to read."""


class Strange(ClassifierMixin, BaseEstimator):
    """A fitted model of numbers in a table, right but for one way of its own."""

    def __init__(self, way: str = "none", classes: tuple[Any, ...] = (0, 1)) -> None:
        self.way = way
        self.classes = classes

    def fit(self, X: Any, y: Any = None) -> Strange:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray:
        known = np.array(self.classes)
        return known[::-1] if self.way == "classes turned" else known

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[np.argmax(_scores(X, len(self.classes)), axis=1)]

    def predict_proba(self, X: Any) -> Any:
        p = _scores(X, len(self.classes))
        return WAYS[self.way](self, X, p)


def _scores(X: Any, n_classes: int) -> np.ndarray:
    """Return probabilities that depend on the numbers of a row alone."""
    cells = pd.DataFrame(X.toarray() if sparse.issparse(X) else X)
    numbers = cells.apply(pd.to_numeric, errors="coerce").fillna(0).to_numpy(dtype=float)
    z = 4 * np.tanh(numbers.clip(-1e6, 1e6).sum(axis=1))
    logits = np.outer(z, np.linspace(-1, 1, n_classes))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def _mutates(model: Strange, X: Any, p: np.ndarray) -> np.ndarray:
    if isinstance(X, pd.DataFrame) and X.shape[1]:
        X.insert(0, "mutated by the model", 0)
    elif isinstance(X, np.ndarray) and X.flags.writeable and X.dtype.kind == "f":
        X[:] = 0
    return p


def _raises(model: Strange, X: Any, p: np.ndarray) -> np.ndarray:
    raise ModelError("the model's own error")


def _by_call(model: Strange, X: Any, p: np.ndarray) -> np.ndarray:
    model.calls = getattr(model, "calls", 0) + 1
    if model.way == "raises later" and model.calls > 2:
        raise ModelError("the model's own error")
    if model.way == "forgets":
        return p if model.calls % 2 else p[:, ::-1]
    buffer = getattr(model, "buffer", None)
    if buffer is None or len(buffer) < len(p):
        model.buffer = buffer = np.empty((len(p) + 500, p.shape[1]))
    buffer[: len(p)] = p
    return buffer[: len(p)]


WAYS: dict[str, Any] = {
    "none": lambda model, X, p: p,
    "float32": lambda model, X, p: p.astype(np.float32),
    "float16": lambda model, X, p: p.astype(np.float16),
    "NaN": lambda model, X, p: np.where(np.arange(len(p))[:, None] % 5 == 0, np.nan, p),
    "NaN for mixes": lambda model, X, p: np.full_like(p, np.nan) if len(p) > 60 else p,
    "infinite": lambda model, X, p: p / 0.0 if len(p) > 60 else p,
    "log-odds": lambda model, X, p: 8 * p - 4,
    "percent": lambda model, X, p: 100 * p,
    "sums": lambda model, X, p: p * 0.9,
    "one column": lambda model, X, p: p[:, 1:2],
    "one dimension": lambda model, X, p: p[:, 1],
    "one class": lambda model, X, p: p[:, :1],
    "a column more": lambda model, X, p: np.hstack([p, p[:, :1] * 0]),
    "three dimensions": lambda model, X, p: p[:, :, None],
    "a row less": lambda model, X, p: p[:-1],
    "a row more": lambda model, X, p: np.vstack([p, p[:1]]),
    "one row": lambda model, X, p: p[:1],
    "frame": lambda model, X, p: pd.DataFrame(p),
    "frame of names": lambda model, X, p: pd.DataFrame(p).add_prefix("class "),
    "list": lambda model, X, p: p.tolist(),
    "texts": lambda model, X, p: p.astype(str),
    "objects": lambda model, X, p: p.astype(object),
    "sparse": lambda model, X, p: sparse.csr_matrix(p),
    "masked": lambda model, X, p: np.ma.masked_greater(p, 0.9),
    "complex": lambda model, X, p: p + 1j,
    "nothing": lambda model, X, p: None,
    "decisions": lambda model, X, p: np.eye(p.shape[1])[p.argmax(axis=1)],
    "constant": lambda model, X, p: np.full_like(p, 1 / p.shape[1]),
    "certain": lambda model, X, p: np.eye(p.shape[1])[np.ones(len(p), dtype=int)],
    "random": lambda model, X, p: np.random.default_rng().dirichlet(np.ones(p.shape[1]), len(p)),
    "classes turned": lambda model, X, p: p[:, ::-1],
    "raises": _raises,
    "raises later": _by_call,
    "forgets": _by_call,
    "one buffer": _by_call,
    "mutates": _mutates,
}  # fmt: skip
