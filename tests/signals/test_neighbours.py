from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from falcon_discover import FalconDiscover, InputError, load
from falcon_discover.data.table import Table
from falcon_discover.runtime.threads import search_libraries
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.neighbours import backends
from falcon_discover.signals.neighbours.index import LabelledIndex, NeighbourIndex
from falcon_discover.signals.reference import Reference
from support import oracle
from support.tables import awkward_table

LIBRARIES = dict(zip(("faiss", "intelex"), search_libraries(), strict=True))
needs_faiss = pytest.mark.skipif(LIBRARIES["faiss"] is None, reason="faiss is not installed")


def expected(rows, reference, k):
    return np.array([oracle.nearest(list(map(float, r)), reference.tolist(), k) for r in rows])


@pytest.mark.parametrize("width", [2, 12])  # one for each search algorithm
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), levels=st.integers(1, 6), k=st.integers(1, 30))
def test_ties_and_duplicates_are_settled_as_in_plain_loops(width, seed, levels, k):
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, levels, (60, width)).astype(np.float32) / np.float32(3)
    rows = rng.integers(0, levels, (8, width)).astype(np.float32) / np.float32(3)
    found = NeighbourIndex(reference).query(rows, k)
    np.testing.assert_array_equal(found.rows, expected(rows, reference, k))


def test_a_table_of_identical_rows_gives_the_first_ones():
    reference = np.ones((500, 20), dtype=np.float32)
    found = NeighbourIndex(reference).query(reference[:3], 25)
    np.testing.assert_array_equal(found.rows, np.tile(np.arange(25), (3, 1)))
    assert (found.distances == 0).all()


def test_outliers_do_not_blur_distances():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(300, 10)).astype(np.float32)
    reference[:5] *= 1e5
    rows = np.vstack([reference[:5] + np.float32(0.5), reference[5:20]])
    found = NeighbourIndex(reference).query(rows, 25)
    np.testing.assert_array_equal(found.rows, expected(rows, reference, 25))
    assert (found.distances[5:, 0] == 0).all()


def test_threads_and_memory_budget_do_not_change_the_answer():
    rng = np.random.default_rng(1)
    reference = rng.integers(0, 3, (4000, 12)).astype(np.float32)
    rows = rng.integers(0, 3, (500, 12)).astype(np.float32)
    index = NeighbourIndex(reference)
    two = index.query(rows, 25)
    with threadpool_limits(limits=1):
        one = index.query(rows, 25)
    with sklearn.config_context(working_memory=1):
        small = index.query(rows, 25)
    for other in (one, small):
        np.testing.assert_array_equal(two.rows, other.rows)
        np.testing.assert_array_equal(two.distances, other.distances)


def rough_terrain(kind):
    rng = np.random.default_rng(4)
    reference = rng.normal(size=(1500, 20)).astype(np.float32)
    if kind == "ties":
        reference = rng.integers(0, 2, (1500, 20)).astype(np.float32)
    if kind == "duplicates":
        reference[500:1000] = reference[:500]
    if kind == "far from the origin":
        reference += np.float32(1000)
    if kind == "overflowing":
        reference[::50] *= np.float32(1e22)
    rows = reference[::7] + np.float32(0.01) * rng.normal(size=(215, 20)).astype(np.float32)
    return reference, np.concatenate([rows, reference[:100]])


def only(library, monkeypatch):
    """Search with this library alone, or with scikit-learn."""
    kept = tuple(found if name == library else None for name, found in LIBRARIES.items())
    monkeypatch.setattr(backends, "search_libraries", lambda: kept)


@pytest.mark.parametrize("library", ["faiss", "intelex"])
@pytest.mark.parametrize(
    "kind", ["plain", "ties", "duplicates", "far from the origin", "overflowing"]
)
def test_with_and_without_a_faster_library_the_answers_are_the_same_to_the_last_bit(
    kind, library, monkeypatch
):
    if LIBRARIES[library] is None:
        pytest.skip(f"{library} is not installed")
    reference, rows = rough_terrain(kind)
    labels = np.arange(len(reference)) % 3 == 0
    only(library, monkeypatch)
    found = LabelledIndex(reference, labels).query(rows, 25, by_class=True)
    over_all = NeighbourIndex(reference).query(rows, 25)
    only(None, monkeypatch)
    plain = LabelledIndex(reference, labels).query(rows, 25, by_class=True)
    for one in (found, over_all):
        np.testing.assert_array_equal(one.rows, plain.rows)
        assert one.distances.tobytes() == plain.distances.tobytes()
    assert found.class_distances.tobytes() == plain.class_distances.tobytes()


@pytest.mark.parametrize("library", ["faiss", "intelex"])
def test_a_faster_library_settles_plain_rows_by_itself(library, monkeypatch):
    if LIBRARIES[library] is None:
        pytest.skip(f"{library} is not installed")
    only(library, monkeypatch)
    reference, rows = rough_terrain("plain")
    index = NeighbourIndex(reference)
    monkeypatch.delattr(backends.ScikitLearn, "nearest")
    assert index.query(rows, 25).rows.shape == (len(rows), 25)
    assert index.recall == 1.0


@needs_faiss
def test_an_inverted_file_reports_the_recall_it_has(monkeypatch):
    rng = np.random.default_rng(5)
    reference = rng.normal(size=(6000, 12)).astype(np.float32)
    rows = rng.normal(size=(300, 12)).astype(np.float32)
    exact = NeighbourIndex(reference).query(rows, 25)
    monkeypatch.setattr(backends, "INVERTED_FILE_FROM", 5000)
    monkeypatch.setattr(backends, "FIRST_LISTS", 4)
    index = NeighbourIndex(reference)
    found = index.query(rows, 25)
    pairs = zip(found.rows, exact.rows, strict=True)
    measured = np.mean([len(np.intersect1d(*pair)) / 25 for pair in pairs])
    assert backends.MIN_RECALL <= index.recall < 1
    assert measured == pytest.approx(index.recall, abs=0.02)
    assert LabelledIndex(reference, np.zeros(6000, int)).recall == index.recall
    # Whatever it finds is measured exactly.
    shared = found.rows == exact.rows
    np.testing.assert_array_equal(found.distances[shared], exact.distances[shared])


@needs_faiss
def test_more_neighbours_than_the_lists_hold_are_searched_for_everywhere(monkeypatch):
    monkeypatch.setattr(backends, "INVERTED_FILE_FROM", 100)
    monkeypatch.setattr(backends, "FIRST_LISTS", 1)
    reference = np.zeros((400, 10), dtype=np.float32)
    reference[:, 0] = np.arange(400) ** 2
    found = NeighbourIndex(reference).query(reference[:5], 300)
    np.testing.assert_array_equal(found.rows, expected(reference[:5], reference, 300))


def test_neighbours_that_are_handed_in_replace_the_search():
    X, y = awkward_table(150, seed=0)
    table, labels = Table.from_input(X), np.asarray(y, dtype=np.int8)
    reference = Reference.build(table.take(slice(100)), labels[:100], np.full(100, 0.5), None)
    rows, p = table.take(slice(100, 150)), np.linspace(0, 1, 50)
    near = reference.index.query(reference.view.transform(rows), 25, by_class=True)
    searched = StateBuilder().build(rows, reference, p)
    handed = StateBuilder().build(rows, reference, p, neighbours=near)
    assert searched.signals.equals(handed.signals)
    assert searched.evidence.equals(handed.evidence)
    with pytest.raises(InputError, match="neighbours has 10 rows of 25"):
        StateBuilder().build(rows, reference, p, neighbours=near[:10])
    plain = reference.index.query(reference.view.transform(rows), 25)
    with pytest.raises(InputError, match="by_class"):
        StateBuilder().build(rows, reference, p, neighbours=plain)


@needs_faiss
def test_an_audit_reports_the_recall_of_its_neighbours(monkeypatch, tmp_path):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1200, 10))
    y = (X[:, 0] + rng.normal(size=1200) > 0).astype(int)
    monkeypatch.setattr(backends, "FIRST_LISTS", 2)
    monkeypatch.setattr(backends, "MIN_RECALL", 0.5)
    exact = FalconDiscover("logistic_regression", ranker="s_disc", random_state=0).fit(X, y)
    assert exact.neighbour_recall_ == 1.0
    monkeypatch.setattr(backends, "INVERTED_FILE_FROM", 500)
    falcon = FalconDiscover("logistic_regression", ranker="s_disc", random_state=0).fit(X, y)
    assert 0.5 <= falcon.neighbour_recall_ < 1
    falcon.save(tmp_path / "audit.falcon")
    again = load(tmp_path / "audit.falcon")
    assert again.neighbour_recall_ == falcon.neighbour_recall_
    np.testing.assert_array_equal(again.score_samples(X[:50] + 1), falcon.score_samples(X[:50] + 1))
