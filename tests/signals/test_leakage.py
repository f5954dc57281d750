"""No training row sees itself, its own fold's model, or a test label.

The base model memorises: it answers with the label of an identical training row, and with 0.5 if
there is none. All features are noise, so a leak-free state knows nothing about the labels; any
leak shows at once. The same check is then run on deliberately leaky variants and must fail.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from falcon_discover import FalconDiscover, metrics
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.models.adapter import probe
from falcon_discover.models.folds import make_folds
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.reference import Reference

N = 400


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label of every training row by heart and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = {row.tobytes(): label for row, label in zip(np.asarray(X), y, strict=True)}
        return self

    def predict_proba(self, X):
        p = np.array([self._p(row) for row in np.ascontiguousarray(X)])
        return np.column_stack([1 - p, p])

    def _p(self, row):
        label = self.known_.get(row.tobytes())
        # Without memory: an answer that depends on the row but not on any label.
        return 0.3 + 0.4 * (row.sum() > 0) if label is None else 0.01 + 0.98 * label


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = rng.permutation(np.tile([0, 1], N // 2))
    return X, y


def knows_labels(state, y) -> bool:
    """Return whether a state tells right predictions from wrong ones, on pure noise.

    A signal with an AUROC outside 0.5 +- 4 standard errors knows something it must not.
    """
    wrong = (state.p >= 0.5) != y
    error = np.sqrt(1 / 12 * (2 / len(y) + 2 / len(y)))
    areas = [metrics.fc_auroc(wrong, state.signals[name]) for name in state.signals]
    areas.append(metrics.fc_auroc(y, state.p))
    areas.append(metrics.fc_auroc(wrong, state.evidence["labelled_as_predicted"]))
    return any(abs(area - 0.5) > 4 * error for area in areas if not np.isnan(area))


def cross_fitted(X, y, **leak):
    """Build the training state by the package's own parts, with a leak if asked for."""
    table, labels = Table.from_input(X), Labels.from_input(y)
    folds = make_folds(5, labels, seed=0)
    targets = labels.codes
    everywhere = np.arange(len(y))
    seen = [everywhere if leak.get("own_fold_model") else others for others, _ in folds]
    probes = [probe(Memory().fit(X[rows], targets[rows]), [0, 1]) for rows in seen]
    p = np.empty(len(y))
    for (_, held_out), model in zip(folds, probes, strict=True):
        p[held_out] = model.score(table.take(held_out))
    if leak.get("itself"):
        folds = [(everywhere, held_out) for _, held_out in folds]
    builder = StateBuilder(n_neighbors=1 if leak.get("itself") else 25)
    return builder.cross_fitted_state(
        table, targets, p, np.tile(p, (5, 1)), folds, probes, own_view=False
    )


def test_the_state_of_training_rows_knows_nothing_about_their_labels(noise):
    X, y = noise
    falcon = FalconDiscover(Memory(), random_state=0).fit(X, y)
    assert not knows_labels(falcon.examine().state, y)


def test_the_parts_put_together_honestly_pass_the_same_check(noise):
    assert not knows_labels(cross_fitted(*noise), noise[1])


@pytest.mark.parametrize("leak", ["itself", "own_fold_model"])
def test_the_check_fails_on_a_leaky_variant(noise, leak):
    assert knows_labels(cross_fitted(*noise, **{leak: True}), noise[1])


def test_neighbours_are_judged_by_models_that_never_saw_the_row(noise):
    """Out-of-fold scores of the neighbours come from models fitted on the row itself: a leak.

    A nearest-neighbour model predicts the row's own label for those around it. Held against
    the row's prediction, their decisions would tell whether it is right.
    """
    X, y = noise
    falcon = FalconDiscover(KNeighborsClassifier(5), random_state=0).fit(X, y)
    assert not knows_labels(falcon.examine().state, y)
    leaky = falcon.examine().state
    folds = make_folds(5, Labels.from_input(y), seed=0)
    probes = [probe(KNeighborsClassifier(5).fit(X[rows], y[rows]), [0, 1]) for rows, _ in folds]
    leaky = StateBuilder().cross_fitted_state(
        Table.from_input(X),
        y.astype(np.int8),
        leaky.p,
        np.tile(leaky.p, (5, 1)),
        folds,
        probes,
        own_view=False,
    )
    assert knows_labels(leaky, y)


def test_a_row_of_one_fold_is_compared_with_the_other_folds_only(noise):
    X, y = noise
    falcon = FalconDiscover(Memory(), random_state=0).fit(X, y)
    # Its own copy would be at distance 0.
    assert (falcon.examine().state.evidence["nearest_distance"] > 1e-6).all()


def test_test_labels_change_no_score_and_no_list(noise):
    X, y = noise
    falcon = FalconDiscover(Memory(), ranker="learned_oof", tau=0.6, random_state=0)
    falcon.fit(X[:300], y[:300])
    before = falcon.examine(X[300:], y[300:])
    after = falcon.examine(X[300:], 1 - y[300:])
    np.testing.assert_array_equal(before.suspicion(), after.suspicion())
    assert before.review().equals(after.review())
    assert before.state.signals.equals(after.state.signals)


def test_learned_scores_of_training_rows_come_from_other_folds(noise):
    X, y = noise
    falcon = FalconDiscover(Memory(), ranker="learned_oof", tau=0.6, random_state=0).fit(X, y)
    rows = falcon.examine().audit.training
    own_fold = rows.oof.state.fold == 0
    scores = falcon.score_samples()
    # Other labels in fold 0 change the rankers of the other folds, not those of fold 0 itself.
    flipped = np.where(own_fold, 1 - rows.oof.codes, rows.oof.codes).astype(np.int8)
    other = replace(rows, oof=replace(rows.oof, codes=flipped)).oof_scores("learned_oof", 0.6)
    np.testing.assert_array_equal(scores[own_fold], other[own_fold])
    assert not np.array_equal(scores[~own_fold], other[~own_fold])


def test_frozen_audit_rows_are_not_their_own_neighbours(noise):
    X, y = noise
    table, labels = Table.from_input(X), Labels.from_input(y)
    p = np.full(N, 0.95)
    honest = StateBuilder(n_neighbors=1).cross_fitted_state(
        table,
        labels.codes,
        p,
        np.tile(p, (5, 1)),
        make_folds(5, labels, 0),
        [None] * 5,
        own_view=False,
    )
    assert not knows_labels(honest, y)
    reference = Reference.build(table, labels.codes, p, None, own_view=False)
    assert knows_labels(StateBuilder(n_neighbors=1).build(table, reference, p), y)
