"""Labels at the door: classes as numbers from 0 on, with their names kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from falcon_discover.data.table import check_text
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.records import scalar
from falcon_discover.runtime.words import number_of, shortened

# Codes are bytes.
MAX_CLASSES = 127
# Up to here a few rows may all be of different classes.
FEW_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as positions among the classes; of two classes the second is the positive one.

    Examples
    --------
    >>> labels = Labels.from_input(["no", "yes", "no"])
    >>> labels.classes.tolist(), labels.codes
    (['no', 'yes'], array([0, 1, 0], dtype=int8))
    """

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.int8]

    @property
    def n_classes(self) -> int:
        """How many classes there are; rows need not hold all of them."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def from_input(cls, y: Any, classes: npt.ArrayLike | None = None) -> Labels:
        """Read labels; with `classes` of an earlier fit or of a model, hold them to these."""
        if y is None:
            raise InputError("FalconDiscover requires y to be passed, but the target y is None.")
        if np.ma.is_masked(y):
            raise InputError("y contains masked values: drop or label those rows.")
        try:
            values = _plain_labels(column_or_1d(_label_array(y), warn=True))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"y cannot be read as labels, one for each row: {shortened(error)}"
            ) from error
        _check_complete(values)
        if classes is not None:
            known = np.asarray(classes)
            strange = [v for v in pd.unique(values) if v not in known.tolist()]
            if strange:
                raise InputError(
                    f"y contains the label {label_repr(strange[0])}, which is {_none_of(known)}: "
                    "use the labels of the fit."
                )
        else:
            known = _distinct(values)
        if len(known) == 2:
            # A text alone would lose a NUL at its end when it is compared; an array does not.
            return cls(known, (values == known[1:]).astype(np.int8))
        places = {label: place for place, label in enumerate(known.tolist())}
        return cls(known, np.array([places[label] for label in values.tolist()], dtype=np.int8))


def label_repr(label: Any) -> str:
    """Return a label as a user would write it: 1 rather than np.int64(1).

    Examples
    --------
    >>> label_repr(np.int64(1)), label_repr("yes")
    ('1', "'yes'")
    """
    return repr(scalar(label))


def probability_names(classes: npt.NDArray[Any]) -> list[str]:
    """Return what the columns of a model's probabilities are called, in the order of the classes.

    Examples
    --------
    >>> probability_names(np.array(["no", "yes"])), probability_names(np.array([1, 2, 3]))
    (['p'], ['p_1', 'p_2', 'p_3'])
    """
    return ["p"] if len(classes) == 2 else [f"p_{scalar(label)}" for label in classes]


def _none_of(known: npt.NDArray[Any]) -> str:
    if len(known) == 2:
        return f"neither {label_repr(known[0])} nor {label_repr(known[1])}"
    shown = ", ".join(label_repr(label) for label in known[:5]) + (
        ", ..." if known[5:].size else ""
    )
    return f"none of the {len(known)} classes ({shown})"


def _label_array(y: Any) -> npt.NDArray[Any]:
    if isinstance(y, pd.Series | pd.DataFrame | pd.Categorical) and not isinstance(y, pd.Index):
        return np.asarray(y)
    return check_array(y, dtype=None, ensure_2d=False, ensure_all_finite=False, input_name="y")


def _plain_labels(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return booleans and numbers that came as objects in their own type."""
    kinds: dict[str, type] = {"boolean": bool, "integer": int, "floating": float, "decimal": float}
    kind = pd.api.types.infer_dtype(values, skipna=False) if values.dtype == object else ""
    return values.astype(kinds[kind]) if kind in kinds else values


def _check_complete(values: npt.NDArray[Any]) -> None:
    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        shown = ", ".join(str(i) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise InputError(
            f"Input y contains NaN: {number_of(len(missing), 'unlabelled row')} (rows {shown}). "
            "Drop or label them."
        )
    if np.issubdtype(values.dtype, np.floating) and np.isinf(values).any():
        raise InputError("Input y contains infinity: labels must be distinct values.")


def _distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not len(values):
        raise InputError("y has 0 samples: give labelled rows.")
    try:
        known = np.unique(values)
    except TypeError as error:
        raise InputError(
            "y mixes labels of different types, which cannot be sorted: use one type."
        ) from error
    check_text([label for label in known.tolist() if isinstance(label, str)], "y")
    if len(known) == 2 and known.dtype.kind in "biuf":
        return known
    try:
        # Said here too, where it is an error.
        with notices.ignoring(UserWarning, "The number of unique classes"):
            check_classification_targets(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"y is not a column of classes. {shortened(error)}") from error
    if len(known) == 1:
        raise InputError(
            f"y has only one class ({label_repr(known[0])}): give labelled rows of at least two."
        )
    if len(known) > MAX_CLASSES or (len(known) > FEW_CLASSES and len(known) > len(values) / 2):
        raise InputError(
            f"y has {len(known):,} different values in {len(values):,} rows: that looks like a "
            f"quantity or an identifier. Give a column of classes, at most {MAX_CLASSES}."
        )
    return known
