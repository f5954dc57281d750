"""The scorer that every engine runs: rows of one part in, the bytes of one output file out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import effective_n_jobs

from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.data.labels import probability_names
from falcon_discover.exceptions import InputError
from falcon_discover.models.score_columns import in_class_order, scores_in
from falcon_discover.rankers import trait
from falcon_discover.runtime import notices
from falcon_discover.runtime.threads import one_blas_thread
from falcon_discover.runtime.words import meant
from falcon_discover.scoring import rows
from falcon_discover.scoring.plan import Part, Plan

SCORES = ("predicted", "confidence", "suspicion", "risk")


@dataclass(frozen=True)
class Scored:
    """A finished part: its number, its parquet file, and what was noticed."""

    number: int
    data: bytes
    notes: tuple[str, ...]


def check_columns(falcon: FalconDiscover, plan: Plan) -> None:
    """Raise if a file lacks a column that scoring needs, or does not go with the first file."""
    identity = plan.identity
    _check_scores(falcon, plan.proba)
    _check_target(falcon, plan)
    if identity in (*probability_names(falcon.classes_), *SCORES):
        raise InputError(
            f"--id names the column {identity!r}, but the results have a column of that name: "
            "rename yours."
        )
    first: tuple[str, list[str], pa.DataType | None] | None = None
    for source in plan.sources:
        name = source.file
        schema = rows.schema(source.path, texts_of(falcon, identity))
        there = schema.names
        twice = [column for column in there if there.count(column) > 1]
        if twice:
            raise InputError(f"{name} has two columns named {twice[0]!r}: rename one.")
        features = features_of(falcon, there, plan.apart)
        for column in [*features, *plan.apart]:
            if column not in there:
                raise InputError(f"{name} lacks the column {column!r}.{meant(column, there)}")
        kind = None if identity is None else _id_type(schema.field(identity).type)
        first = first or (name, features, kind)
        if features != first[1]:
            raise InputError(
                f"the columns of {name} are not those of {first[0]} in the same order. Put them "
                "in that order: the audit was fitted on columns without names."
            )
        if kind != first[2]:
            raise InputError(
                f"the column {identity!r} is {first[2]} in {first[0]} and {kind} in {name}: write "
                "it with one type."
            )


def _check_scores(falcon: FalconDiscover, proba: Sequence[str]) -> None:
    """Raise if an audit without a model is not told where the scores are, or another one is."""
    without_model = falcon.audit_.model is None
    if proba and not without_model:
        raise InputError(
            "--proba names a column of scores, but this audit has its own model: leave it out."
        )
    if without_model and not proba:
        raise InputError(
            "this audit was made from predictions alone: name the column with the scores of "
            "these rows with --proba."
        )
    if len(proba) > 1 or (proba and len(falcon.classes_) > 2):
        in_class_order(proba, falcon.classes_)
    known = getattr(falcon, "feature_names_in_", ())
    for column in proba:
        if column in known:
            raise InputError(
                f"--proba names the column {column!r}, which this audit uses as a feature: name "
                "another column."
            )


def _check_target(falcon: FalconDiscover, plan: Plan) -> None:
    """Raise if the column of labels is one that something else is read from."""
    if plan.target is None:
        return
    if plan.target in (plan.identity, *plan.proba):
        raise InputError(
            f"--target names the column {plan.target!r}, and so does another option: name the "
            "column with the labels."
        )
    if plan.target in getattr(falcon, "feature_names_in_", ()):
        raise InputError(
            f"--target names the column {plan.target!r}, which this audit uses as a feature: name "
            "the column with the labels."
        )


def score_part(falcon: FalconDiscover, part: Part, identity: str | None) -> Scored:
    """Read, score and pack one part; the bytes depend on nothing but the arguments."""
    with placed(part, "scored"):
        return _score_part(falcon, part, identity)


@contextmanager
def placed(part: Part, done: str) -> Iterator[None]:
    """Say on which rows something went wrong, or that their file has changed meanwhile."""
    where = f"rows {part.start} to {part.stop - 1} of {part.source.file}"
    try:
        yield
    except InputError as error:
        # What looks like wrong data may be a file that is being replaced.
        part.source.check_unchanged()
        raise InputError(f"{where} cannot be {done}: {error}") from error
    except Exception as error:
        part.source.check_unchanged()
        error.add_note(f"This happened on {where}.")
        raise
    part.source.check_unchanged()


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of a part: as the audit takes them, their scores if they are given, and more.

    Attributes
    ----------
    X : in the library that the audit was fitted with
    given : the scores of the rows, for an audit without a model
    table : all columns that were read
    """

    X: Any
    given: Any
    table: pa.Table


def rows_of(falcon: FalconDiscover, part: Part, more: str | None = None) -> PartRows:
    """Read what the audit wants of the rows of a part, and one more column."""
    path, text_columns = part.source.path, texts_of(falcon, more)
    names = rows.schema(path, text_columns).names
    apart = part.apart(more)
    features = features_of(falcon, names, apart)
    wanted = list(dict.fromkeys([*features, *apart]))
    table = rows.read(path, part.start, part.stop, wanted, text_columns)
    given = scores_in(table.select(part.proba).to_pandas(), part.proba, falcon.classes_)
    return PartRows(native(falcon, table.select(features)), given, table)


def _score_part(falcon: FalconDiscover, part: Part, identity: str | None) -> Scored:
    with notices.collected() as notes:
        read = rows_of(falcon, part, identity)
        scores = score_table(falcon, read.X, read.given)
    number = np.arange(part.start, part.stop)
    if identity is None:
        scores.insert(0, "file", part.source.file)
        scores.insert(1, "row", number)
    packed = pa.Table.from_pandas(scores, preserve_index=False)
    if identity is not None:
        ids = read.table[identity]
        packed = packed.add_column(0, identity, ids.cast(_id_type(ids.type)))
    file = BytesIO()
    pq.write_table(packed, file, compression="zstd", write_page_checksum=True)
    return Scored(part.number, file.getvalue(), tuple(notes))


def score_table(falcon: FalconDiscover, X: Any, proba: Any = None) -> pd.DataFrame:
    """Return scores of new rows: p, predicted, confidence, suspicion and, where known, risk.

    Of more than two classes there is one `p_<class>` for each in place of `p`.

    A ranker that puts eligible rows first needs no signal of the others: only eligible rows are
    compared with the reference and probed, which is most of the work.

    Parameters
    ----------
    proba : the scores of the rows, for an audit without a model
    """
    audit = falcon.audit_
    with one_blas_thread(openmp=effective_n_jobs(falcon.n_jobs)):
        table, gated = falcon.new_rows(X), trait(audit.ranker, "gated")
        state = audit.state(table, falcon.given_scores(X, table, proba), only_eligible=gated)
        suspicion, risk = audit.judge(state)
        names = probability_names(audit.classes)
        scores = pd.DataFrame(
            {
                **dict(zip(names, state.p.reshape(len(state), -1).T, strict=True)),
                "predicted": audit.classes[state.decision],
                "confidence": state.confidence,
                "suspicion": suspicion,
            }
        )
        return scores if risk is None else scores.assign(risk=risk)


def texts_of(falcon: FalconDiscover, identity: str | None) -> tuple[str, ...]:
    """Return the columns to read as texts: the id, unless the model wants its numbers."""
    known = getattr(falcon, "feature_names_in_", ())
    return rows.texts(None if identity in known else identity)


def _id_type(found: pa.DataType) -> pa.DataType:
    """Return the type of an id in the results, so that parts of different files go together."""
    kind = found.value_type if pa.types.is_dictionary(found) else found
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.string()
    return kind


def features_of(
    falcon: FalconDiscover, there: Sequence[str], apart: Collection[str] = ()
) -> list[str]:
    """Return the columns of a file that the audit wants; without names, all but those apart."""
    named = getattr(falcon, "feature_names_in_", None)
    if named is not None:
        return list(named)
    features = [column for column in there if column not in apart]
    if len(features) != falcon.n_features_in_:
        raise InputError(
            f"the audit was fitted on {falcon.n_features_in_} columns without names, but the "
            f"files have {len(features)} besides those for ids, scores and labels."
        )
    return features


def native(falcon: FalconDiscover, table: pa.Table) -> Any:
    """Return rows in the library that the audit was fitted with, where that matters."""
    reference = falcon.audit_.reference
    encoded = None if reference is None else reference.encoded
    if nw.dependencies.is_polars_dataframe(encoded):
        import polars

        return polars.from_arrow(table)
    frame = table.to_pandas(ignore_metadata=True)
    if isinstance(encoded, pd.DataFrame):
        # Arrow hands out true and false with gaps as objects, which models do not take.
        nullable = encoded.columns[encoded.dtypes == "boolean"].intersection(frame.columns)
        frame = frame.astype(dict.fromkeys(nullable, "boolean"))
    return frame if hasattr(falcon, "feature_names_in_") else frame.to_numpy()
