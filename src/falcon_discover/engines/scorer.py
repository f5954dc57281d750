"""The scorer that every engine runs: rows of one part in, the bytes of one output file out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import effective_n_jobs

from falcon_discover import notices
from falcon_discover.engines import rows
from falcon_discover.engines.plan import Part
from falcon_discover.estimator import FalconDiscover
from falcon_discover.exceptions import InputError
from falcon_discover.metrics import confidence
from falcon_discover.rankers import GatedRisk
from falcon_discover.signals.state import State
from falcon_discover.suggestions import meant
from falcon_discover.tables import FloatArray, Table
from falcon_discover.threads import one_blas_thread

SCORES = ("p", "predicted", "confidence", "suspicion", "risk")


@dataclass(frozen=True)
class Scored:
    """A finished part: its number, its parquet file, and what was noticed."""

    number: int
    data: bytes
    notes: tuple[str, ...]


def check_columns(falcon: FalconDiscover, files: list[str], identity: str | None) -> None:
    """Raise if a file lacks a column that scoring needs."""
    if identity in SCORES:
        raise InputError(f"--id names the column {identity!r}, which is a column of the result.")
    for name in files:
        there = rows.columns(Path(name))
        for column in [*_features(falcon, there, identity), *([identity] if identity else [])]:
            if column not in there:
                raise InputError(f"{name} lacks the column {column!r}.{meant(column, there)}")


def score_part(falcon: FalconDiscover, part: Part, identity: str | None) -> Scored:
    """Read, score and pack one part; the bytes depend on nothing but the arguments."""
    path = Path(part.file)
    features = _features(falcon, rows.columns(path), identity)
    wanted = features if identity is None or identity in features else [*features, identity]
    table = rows.read(path, part.start, part.stop, wanted)
    with notices.collected() as notes:
        scores = score_table(falcon, _native(falcon, table.select(features)))
    number = np.arange(part.start, part.stop)
    if identity is None:
        scores.insert(0, "file", part.file)
        scores.insert(1, "row", number)
    packed = pa.Table.from_pandas(scores, preserve_index=False)
    if identity is not None:
        packed = packed.add_column(0, identity, table[identity])
    file = BytesIO()
    pq.write_table(packed, file, compression="zstd")
    return Scored(part.number, file.getvalue(), tuple(notes))


def score_table(falcon: FalconDiscover, X: Any) -> pd.DataFrame:
    """Return scores of new rows: p, predicted, confidence, suspicion and, where known, risk.

    A ranker that puts eligible rows first needs no signal of the others: only eligible rows are
    compared with the reference and probed, which is most of the work.
    """
    with one_blas_thread(openmp=effective_n_jobs(falcon.n_jobs)):
        table = falcon._new_rows(X)
        p = falcon._probe.score(table)
        ranker = falcon.ranker_
        state = _state(falcon, table, p, only_eligible=getattr(ranker, "gated", False))
        scores = pd.DataFrame(
            {
                "p": p,
                "predicted": falcon.classes_[state.decision.astype(int)],
                "confidence": state.confidence,
                "suspicion": ranker.score(state),
            }
        )
        return scores.assign(risk=ranker.risk(state)) if isinstance(ranker, GatedRisk) else scores


def _state(falcon: FalconDiscover, table: Table, p: FloatArray, *, only_eligible: bool) -> State:
    """Return the state of the rows; what is not measured is missing in it."""
    tau = falcon.discovery_.tau
    measured = np.flatnonzero(confidence(p) >= tau) if only_eligible else np.arange(len(p))
    if not len(measured):
        # Nothing matters here but the names of the signals.
        measured = np.arange(1)
    part = table if len(measured) == len(p) else table.take(measured)
    state = falcon._measure.state(part, falcon._reference)
    falcon._warn_rows_of_fit(state)
    if len(measured) == len(p):
        return replace(state, p=p)
    features = None
    if state.features is not None:
        features = np.zeros((len(p), state.features.shape[1]), dtype=state.features.dtype)
        features[measured] = state.features
    everywhere = range(len(p))
    return State(
        p,
        state.signals.set_axis(measured, axis=0).reindex(everywhere),
        state.evidence.set_axis(measured, axis=0).reindex(everywhere),
        features=features,
    )


def _features(falcon: FalconDiscover, there: list[str], identity: str | None) -> list[str]:
    """Return the columns of a file that the model wants; without names, all but the id."""
    named = getattr(falcon, "feature_names_in_", None)
    if named is not None:
        return list(named)
    features = [column for column in there if column != identity]
    if len(features) != falcon.n_features_in_:
        raise InputError(
            f"the audit was fitted on {falcon.n_features_in_} columns without names, and the "
            f"files have {len(features)} beside the id."
        )
    return features


def _native(falcon: FalconDiscover, table: pa.Table) -> Any:
    """Return rows in the library that the audit was fitted with, where that matters."""
    encoded = getattr(falcon._reference, "encoded", None)
    if nw.dependencies.is_polars_dataframe(encoded):
        import polars

        return polars.from_arrow(table)
    frame = table.to_pandas(ignore_metadata=True)
    return frame if hasattr(falcon, "feature_names_in_") else frame.to_numpy()
