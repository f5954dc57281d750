"""Labels at the door: two classes as 0/1, with their names kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.runtime.records import scalar


@dataclass(frozen=True, eq=False)
class Labels:
    """Two-class labels as 0/1 with the class names kept; `classes[1]` is the positive class.

    Examples
    --------
    >>> labels = Labels.from_input(["no", "yes", "no"])
    >>> labels.classes.tolist(), labels.codes
    (['no', 'yes'], array([0, 1, 0], dtype=int8))
    """

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.int8]

    @property
    def positive(self) -> Any:
        """The label that `p` is the probability of."""
        return self.classes[1]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def from_input(cls, y: Any, classes: npt.ArrayLike | None = None) -> Labels:
        """Read labels; with `classes` of an earlier fit, hold them to these two."""
        if y is None:
            raise InputError(
                "y is None: labels are required, requires y to be passed, but the target y is None."
            )
        try:
            values = _plain_labels(column_or_1d(_label_array(y), warn=True))
        except (TypeError, ValueError) as error:
            raise InputError(f"y cannot be read as labels, one for each row: {error}") from error
        _check_complete(values)
        if classes is not None:
            known = np.asarray(classes)
            strange = [v for v in pd.unique(values) if v not in known.tolist()]
            if strange:
                raise InputError(
                    f"y holds the label {label_repr(strange[0])}, which is neither "
                    f"{label_repr(known[0])} nor {label_repr(known[1])}: use the labels of the fit."
                )
        else:
            known = _two_classes(values)
        return cls(known, (values == known[1]).astype(np.int8))


def label_repr(label: Any) -> str:
    """Return a label as a user would write it: 1 rather than np.int64(1).

    Examples
    --------
    >>> label_repr(np.int64(1)), label_repr("yes")
    ('1', "'yes'")
    """
    return repr(scalar(label))


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
            f"Input y contains NaN: {len(missing)} row(s) have no label (rows {shown}); "
            "drop them or label them."
        )
    if np.issubdtype(values.dtype, np.floating) and np.isinf(values).any():
        raise InputError("Input y contains infinity: labels must be two distinct values.")


def _two_classes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        known = np.unique(values)
    except TypeError as error:
        raise InputError(
            "y mixes labels of different types, which have no order: use one type."
        ) from error
    if len(known) == 2 and known.dtype.kind in "biuf":
        return known
    try:
        # Said here too, where it is an error.
        with notices.ignoring(UserWarning, "The number of unique classes"):
            check_classification_targets(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"y is not a column of two classes. {error}") from error
    if len(known) == 1:
        raise InputError(
            f"y has one class only ({label_repr(known[0])}): confident errors can be found only "
            "where both classes occur; give labelled rows of both."
        )
    if len(known) > 2:
        with notices.ignoring(UserWarning, "The number of unique classes"):
            kind = type_of_target(values, input_name="y")
        raise InputError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"y has {len(known)} classes; reduce it to two, such as one class against the rest."
        )
    return known
