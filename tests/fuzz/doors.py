"""What stands at the door: tables, labels, scores, weights, groups, costs, times, settings."""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from falcon_discover import metrics
from falcon_discover.audit.checks import check_parameters, given_probabilities
from falcon_discover.audit.costs import checked_cost
from falcon_discover.data.drawing import given_groups, given_weights
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import LARGEST, Table
from falcon_discover.data.times import times_of
from falcon_discover.data.view import TransformedView
from fuzz.outcome import WrongError, outcome
from fuzz.parts import Part
from strategies import Given, batches, made, tables, twice
from support.columns import COLUMNS
from support.row_values import AMOUNTS, GROUPS, LABELS, PROBABILITIES


def right(holds: Any, what: str) -> None:
    if not bool(holds):
        raise WrongError(what)


def table(given: Given) -> str:
    X = given.value

    def call() -> None:
        read = Table.from_input(X)
        check_table(read)
        if isinstance(X, pd.DataFrame):
            _check_cells(X, read)
        hashes = read.row_hashes()
        turned = read.take(np.arange(len(read))[::-1])
        right((turned.row_hashes() == hashes[::-1]).all(), "hashes depend on the place of a row")
        again = Table.from_input(X, read.kinds)
        right((again.row_hashes() == hashes).all(), "the same table read twice differs")
        view = TransformedView().fit(read).transform(read)
        right(len(view) == len(read) and np.isfinite(view).all(), "the view is not finite")

    return outcome(call, X)


def check_table(read: Table) -> None:
    for name, kind in read.kinds.items():
        column = read.frame[name]
        if kind == "categorical":
            known = column.dropna()
            right(all(isinstance(value, str) for value in known), f"{name!r} holds no text")
        else:
            right(column.dtype == np.float64, f"{name!r} holds no numbers")
            right((column.isna() | (column.abs() <= LARGEST)).all(), f"{name!r} is out of range")


def _check_cells(X: pd.DataFrame, read: Table) -> None:
    right(read.frame.shape == X.shape, "rows or columns are lost")
    for position, (name, kind) in enumerate(read.kinds.items()):
        column, found = X.iloc[:, position], read.frame[name]
        missing = column.isna().to_numpy(dtype=bool)
        right((found.isna().to_numpy() == missing).all(), f"{name!r} is missing other cells")
        if kind == "categorical":
            # Cells are the same if they read the same.
            codes, _ = pd.factorize(column.astype(object).map(str, na_action="ignore"))
            texts, _ = pd.factorize(found)
            right((codes == texts).all(), f"{name!r} tells other cells apart")
        elif isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
            same = found.to_numpy() == column.to_numpy(dtype=np.float64)
            right((same | missing).all(), f"{name!r} has other numbers")


def later_table(case: tuple[Given, Given]) -> str:
    first, second = case[0].value, case[1].value

    def call() -> None:
        fitted = Table.from_input(first)
        view = TransformedView().fit(fitted)
        read = Table.from_input(second, fitted.kinds)
        check_table(read)
        if list(read.kinds) == list(fitted.kinds):
            coordinates = view.transform(read)
            right(np.isfinite(coordinates).all(), "the view of later rows is not finite")

    return outcome(call, first, second)


def labels(given: Given) -> str:
    y = given.value

    def call() -> None:
        read = Labels.from_input(y)
        right(len(read.classes) >= 2, "fewer than two classes")
        right(((read.codes >= 0) & (read.codes < len(read.classes))).all(), "a code of no class")
        named = read.classes[read.codes]
        # Nanoseconds would become numbers.
        named = list(pd.Series(named)) if named.dtype.kind in "mM" else named.tolist()
        plain = np.asarray(y).ravel().tolist() if not hasattr(y, "to_list") else y.to_list()
        right(len(named) == len(plain), "labels are lost")
        numbers = [float(v) if isinstance(v, Decimal) else v for v in plain]
        right(all(a == b for a, b in zip(named, numbers, strict=True)), "labels are others")
        again = Labels.from_input(y, read.classes)
        right((again.codes == read.codes).all(), "the same labels read twice differ")

    return outcome(call, y)


def scores(given: Given) -> str:
    columns = getattr(given.value, "shape", ())[1:]
    # Everything is also handed in where three classes are expected.
    n_classes = 3 if columns == (3,) or given.rows in (2, 7) else 2

    def call() -> None:
        p = given_probabilities(given.value, given.rows, n_classes)
        right(p.shape == ((given.rows,) if n_classes == 2 else (given.rows, n_classes)), "shape")
        right(((p >= 0) & (p <= 1)).all(), "no probability")
        values = np.asarray(given.value).astype(float)
        if n_classes == 2:
            values = values[:, 1] if values.ndim == 2 and values.shape[1] == 2 else values.ravel()
        right(np.allclose(p, values, atol=1e-6), "other scores")

    return outcome(call, given.value)


def weights(given: Given) -> str:
    def call() -> None:
        read = given_weights(given.value, given.rows)
        if read is None:
            return
        right(len(read) == given.rows and np.isfinite(read).all(), "weights are not finite")
        right((read >= 0).all() and read.any(), "weights are negative, or all zero")
        right(np.isfinite(read.sum()), "weights have no sum")

    return outcome(call, given.value)


def costs(given: Given) -> str:
    def call() -> None:
        read = checked_cost(given.value, given.rows)
        right(read.shape == (given.rows,), "not a cost for each row")
        right((np.isfinite(read) & (read >= 0)).all(), "costs are negative or not finite")

    return outcome(call, given.value)


def groups(given: Given) -> str:
    def call() -> None:
        codes, known = given_groups(given.value, given.rows)
        if codes is None:
            return
        right(len(codes) == given.rows and codes.max(initial=-1) < len(known), "groups are lost")
        values = np.asarray(given.value, dtype=object).ravel().tolist()
        for i in range(len(values) - 1):
            same = values[i] == values[i + 1]
            right((codes[i] == codes[i + 1]) == same, "rows are put into other groups")

    return outcome(call, given.value)


def times(given: Given) -> str:
    def call() -> None:
        column = pd.Series(given.value)
        read = times_of(given.value, given.rows)
        right(len(read) == given.rows and not pd.isna(read).any(), "times are lost")
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM":
            order = np.argsort(column.to_numpy(), kind="stable")
            right((np.diff(read[order]) >= np.zeros(1, np.diff(read).dtype)).all(), "other order")

    return outcome(call, given.value)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(-(10**12), 10**12),
    st.sampled_from(
        [
            0.9,
            0.5,
            1.0,
            90,
            "0.9",
            "auto",
            "",
            [],
            [0.9],
            (0.1, 0.2),
            {},
            {"a": 0.9},
            {1: 0.9, 0: 0.8},
        ]
    ),
    st.sampled_from(
        [np.float32(0.9), np.int64(3), np.nan, np.inf, 1j, b"1", object, np.array([0.9])]
    ),
)
PARAMETERS = (
    "tau",
    "threshold",
    "cv",
    "random_state",
    "n_jobs",
    "mix",
    "verbose",
    "n_neighbors",
    "n_regions",
)
USUAL = {"tau": 0.9, "cv": 5, "random_state": 0, "n_jobs": 1}


def parameters(case: dict[str, Any]) -> str:
    return outcome(lambda: check_parameters(**{**USUAL, **case}))


# Figures of `metrics`: the numbers that each takes beside its arrays.
FIGURES: dict[str, dict[str, Any]] = {
    "aurc": {}, "brier": {}, "capture_at": {"budget": 0.2}, "cumulative_calibration_error": {},
    "ece": {"n_bins": 15}, "eligible_auroc": {"tau": 0.9},
    "eligible_average_precision": {"tau": 0.9}, "errors_among_surest": {"k": 1},
    "false_confidence": {"tau": 0.9}, "fc_auroc": {},
    "fc_count_at": {"budget": 0.2}, "label_auroc": {}, "nll": {},
}  # fmt: skip
ODD_ARRAYS = {**PROBABILITIES, **LABELS, **AMOUNTS}
_MARKS = {name: LABELS[name] for name in ("0 and 1", "booleans")}
_SCORES = {name: PROBABILITIES[name] for name in ("scores", "constant")}
ARRAYS: dict[str, Any] = {
    "y": _MARKS, "fc": _MARKS, "error": _MARKS,
    "p": _SCORES, "score": _SCORES, "confidence": _SCORES,
}  # fmt: skip
ARRAYS_OF = {
    name: [p for p in inspect.signature(getattr(metrics, name)).parameters if p in ARRAYS]
    for name in FIGURES
}
# Figures that are no shares.
COUNTS = ("fc_count_at", "nll", "errors_among_surest", "false_confidence")


def figure(case: tuple[str, dict[str, Given], dict[str, Any]]) -> str:
    name, arrays, numbers = case
    function = getattr(metrics, name)
    values = {array: given.value for array, given in arrays.items()}
    if "sample_weight" not in inspect.signature(function).parameters:
        values.pop("sample_weight", None)

    def call() -> None:
        found = function(**values, **numbers)
        if name not in COUNTS:
            right(np.isnan(found) or -1e-9 <= found <= 1 + 1e-9, f"{name} is {found}")

    return outcome(call, *values.values())


@st.composite
def figures(draw: st.DrawFn) -> tuple[str, dict[str, Given], dict[str, Any]]:
    """A figure, its arrays and its numbers: one of them odd, or two."""
    name = draw(st.sampled_from(sorted(FIGURES)))
    n, odd = draw(st.sampled_from((0, 1, 2, 7, 24))), draw(st.integers(0, 15))
    arrays = {}
    for place, array in enumerate(ARRAYS_OF[name]):
        usual = ARRAYS[array]
        arrays[array] = draw(made(ODD_ARRAYS if odd & 1 << place else usual, st.just(n)))
    if odd & 4:
        arrays["sample_weight"] = draw(made(AMOUNTS, st.just(n)))
    numbers = {number: draw(ODD) if odd & 8 else usual for number, usual in FIGURES[name].items()}
    return name, arrays, numbers


PARTS = (
    Part("tables of every type, container and name", tables(), table, 10_000),
    Part("later tables, read as earlier ones", twice(), later_table, 1_000),
    Part("labels", batches(LABELS), labels, 45_000, 50),
    Part("probabilities", batches(PROBABILITIES), scores, 50_000, 50),
    Part("weights", batches(AMOUNTS), weights, 35_000, 50),
    Part("costs", batches(AMOUNTS), costs, 25_000, 50),
    Part("groups", made(GROUPS), groups, 25_000),
    Part("times", batches(COLUMNS), times, 10_000, 50),
    Part(
        "settings",
        st.dictionaries(st.sampled_from(PARAMETERS), ODD, min_size=1, max_size=3),
        parameters,
        4_000,
    ),
    Part("figures of `metrics`", figures(), figure, 4_000),
)
