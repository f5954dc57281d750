"""Evidence without one more fold: no model of evidence learns from labels it is judged by."""

from __future__ import annotations

import numpy as np
import pytest

from falcon_discover import FalconDiscover, datasets, discover, load
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.models.folds import make_folds
from falcon_discover.rankers.evidence import Sample, inner_folds
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import NO_FOLD, State

N, FOLDS = 240, 4
MEASURE = StateBuilder(n_neighbors=10)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    table = Table.from_input(rng.normal(size=(N, 3)))
    return table, Labels.from_input(rng.integers(0, 2, N)), rng.uniform(size=N)


def measured(table, labels, p, folds):
    opinions = CrossOpinions.fit(table, labels.codes, folds, seed=0)
    return MEASURE.cross_fitted_state(
        table,
        labels.codes,
        p,
        np.tile(p, (len(folds), 1)),
        folds,
        [None] * len(folds),
        own_view=False,
        opinions=opinions,
    )


def test_evidence_apart_is_what_a_search_without_both_folds_finds(rows):
    table, labels, p = rows
    folds = make_folds(FOLDS, labels, seed=0)
    state = measured(*rows, folds)
    own, other = 1, 3
    rest = np.flatnonzero(~np.isin(state.fold, (own, other)))
    asked = folds[own][1]
    # In the view of the own fold, as the neighbours are searched there.
    view = Reference.build(table.take(folds[own][0]), labels.codes[folds[own][0]], p, None).view
    reference = Reference.build(table.take(rest), labels.codes[rest], p[rest], None)
    index = type(reference.index)(view.transform(table.take(rest)), labels.codes[rest])
    near = index.query(view.transform(table.take(asked)), 10, by_class=True)
    share = labels.codes[rest][near.rows].mean(axis=1)
    share = np.where(p[asked] >= 0.5, share, 1 - share)
    apart = state.without(other).evidence.iloc[asked]
    np.testing.assert_allclose(apart["labelled_as_predicted"], share, rtol=1e-6)
    assert (apart["labelled_as_predicted"] != state.evidence["labelled_as_predicted"][asked]).any()


@pytest.mark.parametrize("fold", range(FOLDS))
def test_no_label_of_a_fold_is_in_the_evidence_without_it(rows, fold):
    table, labels, p = rows
    folds = make_folds(FOLDS, labels, seed=0)
    flipped = labels.codes.copy()
    flipped[folds[fold][1]] = 1 - flipped[folds[fold][1]]
    before = measured(table, labels, p, folds)
    after = measured(table, Labels(labels.classes, flipped), p, folds)
    others = before.fold != fold
    one, two = (state.without(fold).evidence[others] for state in (before, after))
    np.testing.assert_array_equal(one.to_numpy(), two.to_numpy())
    # The ordinary evidence does hold them, or the test could not fail.
    assert not before.evidence[others].equals(after.evidence[others])


def test_rows_of_a_fit_are_scored_in_their_own_folds_and_have_nothing_apart_from_these():
    planted = datasets.make_planted(600, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    state, y = found.audit.training.oof.state, found.audit.training.oof.codes
    fold = inner_folds(Sample.of_errors(state, state.decision != y, state.eligible(0.9)), 0)
    np.testing.assert_array_equal(fold, state.fold)
    assert state.apart is not None
    assert np.isnan(state.apart.numbers[np.arange(len(state)), state.fold]).all()


def test_rows_that_were_never_fitted_on_are_dealt_out_among_the_folds(rows):
    folds = make_folds(FOLDS, rows[1], seed=0)
    state = measured(*rows, folds)
    more = state.take(np.arange(40))
    later = State(more.p, more.signals, more.evidence)
    both = State.concat([state, later])
    assert (both.fold[N:] == NO_FOLD).all()
    wrong = np.arange(len(both)) % 3 == 0
    dealt = inner_folds(Sample.of_errors(both, wrong, both.eligible(0.5)), 0)
    np.testing.assert_array_equal(dealt[:N], state.fold)
    assert set(dealt[N:]) == set(range(FOLDS))
    # Nobody's label is in their evidence, so it stays as it is.
    np.testing.assert_array_equal(
        both.without(1).evidence.iloc[N:].to_numpy(), later.evidence.to_numpy()
    )


def test_evidence_apart_survives_being_stored():
    numbers = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    apart = Apart(tuple("abcd"), numbers)
    back = Apart.from_frame(apart.frame())
    assert back.names == apart.names
    np.testing.assert_array_equal(back.numbers, numbers)


def test_a_loaded_audit_ranks_for_another_threshold_as_the_live_one(tmp_path):
    planted = datasets.make_planted(400, random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)
    falcon = FalconDiscover("logistic_regression", random_state=0).fit(X, planted.y)
    live = falcon.evaluate(taus=(0.8,)).frame()
    falcon.save(tmp_path / "a.falcon")
    loaded = load(tmp_path / "a.falcon").evaluate(taus=(0.8,)).frame()
    np.testing.assert_allclose(live["capture"], loaded["capture"])
