"""The transformed view: the space in which distances, support and mixes are measured."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import Float32Array, FloatArray
from falcon_discover.runtime.words import number_of

# A column of identifiers must not turn into one coordinate per row.
MAX_CATEGORIES = 256
# Coordinates are single precision.
FURTHEST = 1e37


class TransformedView(TransformerMixin, BaseEstimator):
    """Median-imputed standardised numbers and one-hot categories, as float32.

    Numbers (and times): median imputation, then standardisation. Categories: most frequent
    value imputed, then one-hot; values never seen in `fit` are zeros everywhere. Columns with
    more than 256 different values keep the most frequent and pool the rest.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        Type the coordinates are handed out in. They are rounded to float32 in any case, so that
        distances are the same; models that add up products need the wider type.

    Examples
    --------
    >>> view = TransformedView().fit(pd.DataFrame({"age": [20, 40], "job": ["a", "b"]}))
    >>> view.transform(pd.DataFrame({"age": [30], "job": ["never seen"]}))
    array([[0., 0., 0.]], dtype=float32)
    """

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and categories from the rows of `X`."""
        table = X if isinstance(X, Table) else Table.from_input(X)
        self.kinds_ = dict(table.kinds)
        texts = [name for name, kind in table.kinds.items() if kind == "categorical"]
        numbers = [name for name in table.kinds if name not in texts]
        self.values_ = {name: set(pd.unique(table.frame[name].dropna())) for name in texts}
        median, most_frequent = (
            SimpleImputer(strategy=strategy, keep_empty_features=True)
            for strategy in ("median", "most_frequent")
        )
        one_hot = OneHotEncoder(
            handle_unknown="ignore",
            max_categories=MAX_CATEGORIES,
            sparse_output=False,
            dtype=np.float32,
        )
        self.encoder_ = ColumnTransformer(
            [
                ("numbers", make_pipeline(median, StandardScaler()), numbers),
                ("categories", make_pipeline(most_frequent, one_hot), texts),
            ]
        ).fit(table.frame)
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the rows of `X` in transformed space."""
        table = X if isinstance(X, Table) else Table.from_input(X, self.kinds_)
        rounded = np.concatenate(
            [self._numbers(table.frame), self._categories(table.frame)], axis=1, dtype=np.float32
        )
        return rounded.astype(self.dtype, copy=False)

    # What `encoder_.transform` gives, to the last bit; its checks of every text take several times
    # as long.
    def _numbers(self, frame: pd.DataFrame) -> FloatArray:
        names = [name for name in self.kinds_ if name not in self.values_]
        values = np.empty((len(frame), len(names)))
        for position, name in enumerate(names):
            values[:, position] = frame[name].to_numpy(np.float64)
        if names:
            imputer, scaler = self.encoder_.named_transformers_["numbers"]
            np.copyto(values, imputer.statistics_, where=np.isnan(values))
            values -= scaler.mean_
            values /= scaler.scale_
            _check_range(values, frame, names)
        return values

    def _categories(self, frame: pd.DataFrame) -> Float32Array:
        blocks = [np.empty((len(frame), 0), dtype=np.float32)]
        names = [name for name in self.kinds_ if name in self.values_]
        if names:
            imputer, encoder = self.encoder_.named_transformers_["categories"]
            rare = getattr(encoder, "infrequent_categories_", [None] * len(names))
            fitted = zip(encoder.categories_, rare, imputer.statistics_, strict=True)
            blocks += [
                _one_hot(frame[name], *known) for name, known in zip(names, fitted, strict=True)
            ]
        return np.concatenate(blocks, axis=1)

    def warn_odd_columns(self, table: Table) -> None:
        """Warn about columns that cannot tell rows apart, or only in part."""
        for name in table.kinds:
            column = table.frame[name]
            distinct = column.nunique(dropna=True)
            if distinct == 0:
                notices.warn(f"column {name!r} has no values: distances ignore it.")
            elif distinct == 1 and not column.isna().any():
                notices.warn(f"column {name!r} is constant: distances ignore it.")
            elif name in self.values_ and distinct > MAX_CATEGORIES:
                notices.warn(
                    f"column {name!r} has {distinct:,} different values: distances use the "
                    f"{MAX_CATEGORIES - 1} most frequent and treat the rest as one group."
                )

    def warn_unseen(self, table: Table) -> None:
        """Warn about categories that were not there in `fit`."""
        for name, known in self.values_.items():
            unseen = [
                value for value in pd.unique(table.frame[name].dropna()) if value not in known
            ]
            if unseen:
                rows = int(table.frame[name].isin(unseen).sum())
                such = f"{'such as ' if len(unseen) > 1 else ''}{unseen[0]!r}"
                notices.warn(
                    f"column {name!r} has {number_of(len(unseen), 'value')} not seen in the fit "
                    f"({such}), in {number_of(rows, 'row')}: distances ignore them."
                )


def _check_range(values: FloatArray, frame: pd.DataFrame, names: list[str]) -> None:
    """Raise if a number is so far from those of the fit that single precision does not hold it."""
    far = np.abs(values) > FURTHEST
    if far.any():
        row, place = np.argwhere(far)[0]
        name = names[place]
        raise InputError(
            f"column {name!r} contains {frame[name].iloc[row]:g}, more than {FURTHEST:g} standard "
            "deviations from the rows of the fit: replace it with a plausible number or a "
            "missing value."
        )


def _one_hot(column: pd.Series, categories: Any, rare: Any, most_frequent: Any) -> Float32Array:
    """Return a coordinate per category, the rare ones in one; all 0 where it is unknown."""
    pooled = set() if rare is None else set(rare)
    places = {value: place for place, value in enumerate(c for c in categories if c not in pooled)}
    width = len(places) + bool(pooled)
    places |= dict.fromkeys(pooled, len(places))
    codes, values = pd.factorize(column)
    # The last place of `where` belongs to missing values, whose code is -1.
    where = np.array([places.get(value, width) for value in [*values, most_frequent]])
    return np.eye(width + 1, width, dtype=np.float32)[where[codes]]
