"""Tables, arrays and the states of rows as parts of a saved audit."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import pandas as pd

from falcon_discover.exceptions import InputError
from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import IntArray
from falcon_discover.storage import frames
from falcon_discover.storage.archive import Archive
from falcon_discover.storage.bounds import reading
from falcon_discover.storage.manifest import threshold_of


def store(
    rows: LabelledState, kept: IntArray, part: str, features_part: str, parts: dict[str, bytes]
) -> None:
    """Put the states of rows into parts, signals and features apart."""
    parts[part] = frames.parquet(frames.state_frame(rows, kept))
    assert rows.state.features is not None
    parts[features_part] = frames.npz({"features": rows.state.features[kept]})


def table(archive: Archive, part: str, rows: int | None = None) -> pd.DataFrame:
    """Return the frame of a part, which must have so many rows."""
    return frames.from_parquet(archive.parts[part], archive.limit, archive.named(part), rows)


def arrays(archive: Archive, part: str, rows: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a part, each with so many rows."""
    where = archive.named(part)
    found = frames.from_npz(archive.parts[part], archive.limit, where)
    for name, values in found.items():
        if values.shape[:1] != (rows,):
            raise InputError(f"{where} is damaged: {name} does not have {rows:,} rows.")
    return found


def read(
    archive: Archive, part: str, features_part: str, rows: int, n_classes: int
) -> LabelledState:
    """Return the states of rows, as `store` puts them into parts."""
    frame = table(archive, part, rows)
    features = arrays(archive, features_part, rows)["features"]
    with reading(archive.named(part)):
        return frames.labelled_state(frame, features, n_classes, threshold_of(archive.manifest))
