"""What stands at the door: tables, labels, scores, weights, groups, costs, times, settings."""

from __future__ import annotations

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
from fuzz.outcome import Wrong, outcome
from fuzz.parts import Part
from strategies import AMOUNTS, GROUPS, LABELS, PROBABILITIES, Given, frames, made, tables
from support.columns import COLUMNS


def right(holds: Any, what: str) -> None:
    if not bool(holds):
        raise Wrong(what)


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
        named = read.classes[read.codes].tolist()
        plain = np.asarray(y).ravel().tolist() if not hasattr(y, "to_list") else y.to_list()
        right(len(named) == len(plain), "labels are lost")
        right(all(a == b for a, b in zip(named, plain, strict=True)), "labels are others")
        again = Labels.from_input(y, read.classes)
        right((again.codes == read.codes).all(), "the same labels read twice differ")

    return outcome(call, y)


def scores(case: tuple[Given, int]) -> str:
    given, n_classes = case

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


ARRAYS = {**{f"p: {name}": maker for name, maker in PROBABILITIES.items()},
          **{f"y: {name}": maker for name, maker in LABELS.items()},
          **{f"w: {name}": maker for name, maker in AMOUNTS.items()}}  # fmt: skip
MARKED = ("y: 0 and 1", "y: booleans")
SCORED = ("p: scores", "p: constant", "w: fractions")
# Figures of marked rows and their scores; those that are shares lie between 0 and 1.
SHARES = ("capture_at", "fc_auroc", "label_auroc", "eligible_auroc", "aurc", "brier", "ece")
FIGURES = (*SHARES, "fc_count_at", "nll", "cumulative_calibration_error", "false_confidence",
           "eligible_average_precision", "errors_among_surest")  # fmt: skip


def figure(case: tuple[str, Given, Given, Any, Given | None]) -> str:
    name, marks, score, number, weight = case
    function = getattr(metrics, name)
    more: dict[str, Any] = {} if weight is None else {"sample_weight": weight.value}
    if name == "false_confidence":
        more = {}
    further = () if number is None or name in _ALONE else (number,)

    def call() -> None:
        found = function(marks.value, score.value, *further, **more)
        if name in SHARES:
            right(np.isnan(found) or -1e-9 <= found <= 1 + 1e-9, f"{name} is {found}")

    return outcome(call, marks.value, score.value)


_ALONE = ("fc_auroc", "label_auroc", "brier", "nll", "cumulative_calibration_error", "aurc", "ece")

_SAME_ROWS = st.shared(st.sampled_from((0, 1, 2, 7, 24)), key="rows of a figure")

PARTS = (
    Part("tables of every type, container and name", tables(), table, 24_000),
    Part("later tables, read as an earlier one was", st.tuples(frames(), frames()), later_table, 10_000),
    Part("labels", made(LABELS), labels, 24_000),
    Part("probabilities", st.tuples(made(PROBABILITIES), st.sampled_from((2, 2, 3))), scores, 26_000),
    Part("weights", made(AMOUNTS), weights, 20_000),
    Part("costs", made(AMOUNTS), costs, 12_000),
    Part("groups", made(GROUPS), groups, 16_000),
    Part("times", made(COLUMNS), times, 12_000),
    Part("settings", st.dictionaries(st.sampled_from(PARAMETERS), ODD, min_size=1, max_size=3),
         parameters, 8_000),
    Part("figures of `metrics`",
         st.tuples(st.sampled_from(FIGURES), made(ARRAYS, _SAME_ROWS, MARKED), made(ARRAYS, _SAME_ROWS, SCORED),
                   st.one_of(st.none(), ODD), st.one_of(st.none(), made(AMOUNTS, _SAME_ROWS))),
         figure, 10_000),
)  # fmt: skip
