"""How a row's values compare with those of its neighbours and of all known rows, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from falcon_discover import FalconDiscover, datasets
from falcon_discover.data.table import Table
from falcon_discover.report.rows import page_rows
from falcon_discover.report.surroundings import Near, near_values, neighbours_of, unusual
from support.findings import changed, made_up


def known_by(values: list, rows: list) -> tuple:
    """A finding whose rows are the given ones, known by others."""
    found = made_up(len(rows))
    known = Table.from_input(pd.DataFrame({"x": values}))
    return changed(found, table=Table.from_input(pd.DataFrame({"x": rows}))), known


@pytest.fixture
def numbers():
    # A hundred known rows, 0 to 99.
    found, known = known_by(np.arange(100.0), [98.5, 49.5, -1.0, np.nan])
    return changed(found, **{"table": found.table}), known


def of(found, known, n):
    other = replace(found, audit=replace(found.audit, table=known))
    return unusual(other, np.arange(n), "x")


def test_a_number_is_unusual_by_its_place_among_known_ones(numbers):
    found = of(*numbers, 4)
    # 99 of 100 lie below 98.5, half of them below 49.5, none below -1; no known one is missing.
    assert found.place == [0.99, 0.5, 0.0, 0.0]
    assert found.tail == [0.02, 1.0, 0.0, 0.0]


def test_the_most_frequent_number_is_usual():
    found = of(*known_by([0.0] * 90 + [1.0] * 10, [0.0, 1.0]), 2)
    # Equal ones count half: 45 of 100 below 0; 95 of 100 below 1.
    assert found.place == [0.45, 0.95]
    assert found.tail == [0.9, 0.1]


def test_a_category_is_unusual_by_its_share_and_those_as_rare():
    values = ["a"] * 60 + ["b"] * 30 + ["c"] * 5 + ["d"] * 5
    found = of(*known_by(values, ["a", "c", "new"]), 3)
    assert found.place == [0.6, 0.05, 0.0]
    assert found.tail == [1.0, 0.1, 0.0]


def test_a_missing_category_has_the_share_of_missing_ones():
    found = of(*known_by(["a"] * 8 + [None] * 2, ["a", None]), 2)
    assert found.place == [0.8, 0.2]


def test_neighbours_are_told_by_their_middle_half_or_their_most_frequent_value():
    found = made_up(2)
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan], "c": list("aabbba")})
    table = Table.from_input(frame)
    found = changed(found, table=Table.from_input(frame.head(2)))
    found = replace(found, audit=replace(found.audit, table=table))
    known = np.array([[True] * 5, [True, True, False, False, True]])
    near = Near(np.array([[0, 1, 2, 3, 4], [0, 5, 1, 2, 3]]), known)
    # Of 1 to 5 the middle and the quarters; of 1, missing and 4 the middle of two is the lower.
    assert near_values(found, near, "n") == ["3 (2 to 4)", "1 (1 to 4)"]
    assert near_values(found, near, "c") == ["b (3 of 5)", "a (2 of 3)"]


@pytest.fixture(scope="module")
def fitted():
    planted = datasets.make_planted(500, random_state=0)
    falcon = FalconDiscover("precomputed", random_state=0)
    return falcon.fit(planted.X[:400], planted.y[:400], proba=planted.proba[:400]), planted


def test_a_row_of_the_fit_is_never_its_own_neighbour_nor_of_its_own_fold(fitted):
    falcon, _ = fitted
    found = falcon.examine()
    rows = np.arange(50)
    near = neighbours_of(found, rows)
    assert (near.known.sum(axis=1) == 25).all()
    fold = found.state.fold
    for row, line, known in zip(rows, near.rows, near.known, strict=True):
        assert fold[row] not in set(fold[line[known]])


def test_neighbours_of_new_rows_are_those_their_signals_were_measured_with(fitted):
    falcon, planted = fitted
    found = falcon.examine(planted.X[400:], proba=planted.proba[400:])
    near = neighbours_of(found, np.arange(100))
    labels = falcon.audit_.training.oof.codes[near.rows] == found.state.decision[:, None]
    share = found.state.evidence["labelled_as_predicted"].to_numpy()
    assert np.allclose(labels.mean(axis=1), share)


def test_without_known_rows_neighbours_are_not_shown_and_the_rest_is():
    found = made_up(60)
    assert neighbours_of(found, np.arange(5)) is None
    rows = page_rows(found, found.review(0.5))
    assert "near" not in rows["names"]
    assert {"values", "place", "tail", "doubt", "trust"} <= set(rows["names"])


def test_doubt_and_trust_are_shares_of_confident_predictions(fitted):
    falcon, _ = fitted
    found = falcon.examine()
    rows = page_rows(found, found.review(0.2))
    for name in ("doubt", "trust"):
        values = np.array([r[rows["names"].index(name)] for r in rows["rows"]], dtype=float)
        assert (values >= 0).all()
        assert (values < 1).all()
