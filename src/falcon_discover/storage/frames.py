"""Arrays as npz, tables and states as parquet, in memory; nothing is pickled either way."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.state import State
from falcon_discover.storage.bounds import check_parquet, reading, unpacked

SIGNAL, EVIDENCE, APART, CLASS = "signal:", "evidence:", "apart:", "p:"
Layout = Literal["array", "sparse", "pandas", "polars", "objects"]


def npz(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return arrays as an npz file; objects, which would be pickled, are refused."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(f"the audit cannot be saved: its array {name} contains objects.")
    file = BytesIO()
    # Older releases of numpy take any other keyword for one more array.
    content: dict[str, Any] = dict(arrays)
    np.savez(file, **content)
    return file.getvalue()


def from_npz(data: bytes, limit: int, part: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an npz file; objects would have to be unpickled and are refused."""
    plain = BytesIO(unpacked(data, limit, part))
    with reading(part), np.load(plain, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def parquet(frame: pd.DataFrame) -> bytes:
    """Return a frame as a parquet file, with its row labels."""
    file = BytesIO()
    try:
        frame.to_parquet(file)
    except Exception as error:  # Arrow and pandas have their own kinds of error
        raise InputError(
            f"the audit cannot be saved: a column or the row labels mix types ({error}). Convert "
            "them to numbers or text before fit."
        ) from error
    return file.getvalue()


def from_parquet(data: bytes, limit: int, part: str, rows: int | None = None) -> pd.DataFrame:
    """Return the frame of a parquet file, which must have this many rows."""
    with reading(part):
        check_parquet(data, limit, part, rows)
        return pd.read_parquet(BytesIO(data))


def rows_stored(rows: Any) -> tuple[Layout, bytes]:
    """Return encoded rows as bytes, and which layout they are to have again."""
    if sp.issparse(rows):
        file = BytesIO()
        sp.save_npz(file, rows, compressed=False)
        return "sparse", file.getvalue()
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return "array", npz({"rows": rows})
    if isinstance(rows, np.ndarray):
        names = [f"x{i}" for i in range(rows.shape[1])]
        return "objects", _checked(pd.DataFrame(rows, columns=names).infer_objects())
    if isinstance(rows, pd.DataFrame):
        return "pandas", _checked(rows.reset_index(drop=True))
    table = nw.from_native(rows, eager_only=True)
    if not table.implementation.is_polars():
        raise InputError(f"rows of the type {type(rows).__name__} cannot be saved.")
    return "polars", _checked(table.to_pandas())


def rows_restored(layout: Layout, data: bytes, limit: int, part: str, rows: int) -> Any:
    """Return encoded rows in their layout."""
    if layout == "array":
        return from_npz(data, limit, part)["rows"]
    if layout == "sparse":
        with reading(part):
            matrix = sp.load_npz(BytesIO(unpacked(data, limit, part)))
            # Compiled code follows its numbers without looking.
            matrix.check_format(full_check=True)
            return matrix
    if layout == "polars":
        import polars

        with reading(part):
            check_parquet(data, limit, part, rows)
            return polars.read_parquet(BytesIO(data))
    frame = from_parquet(data, limit, part, rows)
    return frame.to_numpy(dtype=object) if layout == "objects" else frame


def _checked(frame: pd.DataFrame) -> bytes:
    """Return a frame as parquet, if it comes back with the same values."""
    data = parquet(frame)
    back = pd.read_parquet(BytesIO(data))
    before, after = Table.from_input(frame), Table.from_input(back)
    if not np.array_equal(before.row_hashes(), after.row_hashes()):
        raise InputError(
            "the audit cannot be saved: its table has a column that parquet cannot store "
            "exactly. Convert mixed columns to numbers or text before fit."
        )
    return data


def state_frame(rows: LabelledState, kept: IntArray) -> pd.DataFrame:
    """Return the given rows of a labelled state as one frame."""
    state = rows.state.take(kept)
    joined = pd.concat(
        [state.signals.add_prefix(SIGNAL), state.evidence.add_prefix(EVIDENCE)], axis=1
    ).assign(**_scores(state.p), label=rows.codes[kept])
    if state.apart is not None:
        joined = pd.concat([joined, state.apart.frame(APART)], axis=1)
    marks = {"fold": state.fold, "group": state.group, "weight": state.weight}
    return joined.assign(**{name: mark for name, mark in marks.items() if mark is not None})


def _scores(p: FloatArray) -> dict[str, FloatArray]:
    """Return the positive-class score as one column, or one for each of more than two classes."""
    return {"p": p} if p.ndim == 1 else {f"{CLASS}{code}": p[:, code] for code in range(p.shape[1])}


def labelled_state(
    frame: pd.DataFrame, features: Any, n_classes: int, threshold: float
) -> LabelledState:
    """Return the labelled state that such a frame holds."""

    def columns(prefix: str) -> pd.DataFrame:
        chosen = [name for name in frame.columns if name.startswith(prefix)]
        return frame[chosen].rename(columns=lambda name: name.removeprefix(prefix)).copy()

    frame = frame.reset_index(drop=True)
    fold, group, weight = (
        frame[name].to_numpy(copy=True) if name in frame else None
        for name in ("fold", "group", "weight")
    )
    scores = ["p"] if n_classes == 2 else [f"{CLASS}{code}" for code in range(n_classes)]
    p = frame[scores].to_numpy(copy=True)
    p = p[:, 0] if n_classes == 2 else p
    apart = Apart.from_frame(columns(APART))
    signals, evidence = columns(SIGNAL), columns(EVIDENCE)
    state = State(p, signals, evidence, fold, features, apart, threshold, group, weight)
    return LabelledState(state, frame["label"].to_numpy(np.int8, copy=True))
