"""Two classes as two columns of probabilities give what one column gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from falcon_discover import metrics, rankers
from falcon_discover.calibration.calibrators import CALIBRATORS, EachClass, Temperature
from falcon_discover.data.labels import Labels
from falcon_discover.data.table import Table
from falcon_discover.evaluation.curves import confidence_histogram, reliability
from falcon_discover.evaluation.results import evaluate
from falcon_discover.models.adapter import Probe
from falcon_discover.models.folds import make_folds
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.opinions import CrossOpinions
from falcon_discover.signals.reference import Reference
from falcon_discover.signals.state import State

N, TAU = 500, 0.8


def both(p):
    return np.stack([1.0 - p, p], axis=-1)


@pytest.fixture(scope="module", params=[0.5, 0.35])
def states(request):
    """The cross-fitted state of rows and the state of new ones, each in one and in two columns."""
    threshold = request.param
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N + 100, 4)).round(1)
    wins = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, len(X)) > 0
    table, labels = Table.from_input(X[:N]), Labels.from_input(wins[:N].astype(int))
    new = Table.from_input(X[N:])
    folds = make_folds(4, labels, seed=0)
    models = [LogisticRegression().fit(X[rows], wins[rows]) for rows, _ in folds]
    whole = LogisticRegression().fit(X[:N], wins[:N])
    builder = StateBuilder(threshold=threshold)
    p = np.empty(N)
    for model, (_, held_out) in zip(models, folds, strict=True):
        p[held_out] = model.predict_proba(X[held_out])[:, 1]
    found = []
    for general in (False, True):
        columns = {"columns": (0, 1), "n_classes": 2} if general else {}
        scores = both(p) if general else p
        opinions = CrossOpinions.fit(table, labels.codes, folds, seed=0)
        fit = builder.cross_fitted_state(
            table,
            labels.codes,
            scores,
            np.repeat(scores[None], len(folds), axis=0),
            folds,
            [Probe(model, **columns) for model in models],
            own_view=False,
            opinions=opinions,
        )
        reference = Reference.build(
            table, labels.codes, scores, Probe(whole, **columns), own_view=False, opinions_seed=0
        )
        fit = replace(fit, features=reference.coordinates)
        found.append((fit, builder.build(new, reference)))
    return (*zip(*found, strict=True), labels.codes, wins[N:].astype(np.int8))


def test_every_signal_is_the_same(states):
    for one, two in states[:2]:
        assert one.p.ndim == 1
        assert two.p.shape == (len(one), 2)
        assert two.n_classes == one.n_classes == 2
        assert (two.decision == one.decision).all()
        assert (two.eligible(TAU) == one.eligible(TAU)).all()
        for frame in ("signals", "evidence"):
            ours, theirs = getattr(one, frame), getattr(two, frame)
            assert list(ours.columns) == list(theirs.columns)
            for name in ours:
                np.testing.assert_allclose(theirs[name], ours[name], atol=1e-9, err_msg=name)
    one, two = states[0]
    np.testing.assert_array_equal(two.apart.numbers, one.apart.numbers)


@pytest.mark.parametrize("tau", [TAU, (0.7, 0.9)])
def test_events_are_the_same(states, tau):
    (one, two), _, codes, _ = states
    assert (one.events(codes, tau) == two.events(codes, tau)).all()
    ours, theirs = (
        metrics.false_confidence(codes, state.p, tau, state.threshold) for state in (one, two)
    )
    assert ours.any()
    assert (ours == theirs).all()


# The random one draws from the last digits of the scores.
@pytest.mark.parametrize("ranker", sorted(set(rankers.RANKERS) - {"random"}))
def test_every_ranker_scores_the_same(states, ranker):
    fits, news, codes, _ = states
    ours, theirs = (TrainingRows(LabelledState(state, codes)) for state in fits)
    learns_from = rankers.trait(rankers.make(ranker), "labels")
    if learns_from in ("validation", "both"):
        pytest.skip("learns from validation rows")
    # What solves for coefficients stops at a tolerance of its own.
    close = 1e-9 if learns_from is None else 1e-4
    one, two = (
        rows.ranker(ranker, TAU).score(new) for rows, new in zip((ours, theirs), news, strict=True)
    )
    np.testing.assert_allclose(two, one, atol=close)
    np.testing.assert_allclose(
        theirs.oof_scores(ranker, TAU), ours.oof_scores(ranker, TAU), atol=close
    )


def test_the_evaluation_is_the_same(states):
    (one, two), _, codes, _ = states
    told = [
        evaluate(
            state,
            codes,
            lambda name, tau, state=state: metrics.gated_confidence(
                state.confidence, state.level(tau)
            ),
            rankers=["gated_confidence"],
            tau=TAU,
            budgets=(0.1, 0.2),
            taus=(0.7,),
        )
        for state in (one, two)
    ]
    assert repr(told[0]) == repr(told[1])
    for name, value in told[0].model.items():
        assert told[1].model[name] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("name", CALIBRATORS)
def test_every_calibrator_of_scores_gives_the_same(states, name):
    (one, _), (new, _), codes, _ = states
    kind = CALIBRATORS[name]
    general = Temperature() if kind is Temperature else EachClass(kind)
    ours = kind().fit(one.p, codes).predict(new.p)
    theirs = general.fit(both(one.p), codes).predict(both(new.p))
    np.testing.assert_allclose(theirs[:, 1], ours, atol=1e-6)


def test_curves_are_the_same(states):
    (one, two), _, codes, _ = states
    ours, theirs = (reliability(codes, s.p, s.threshold) for s in (one, two))
    np.testing.assert_allclose(theirs, ours)
    ours, theirs = (confidence_histogram(s.p, TAU, codes, s.threshold) for s in (one, two))
    assert ours.equals(theirs)


def test_swapping_the_two_classes_changes_no_signal_of_certainty():
    p = np.random.default_rng(0).uniform(size=200)
    one, other = State.from_scores(both(p)), State.from_scores(both(1.0 - p))
    for name in ("confidence", "margin", "entropy"):
        np.testing.assert_allclose(one.column(name), other.column(name), atol=1e-12)
    assert (one.decision == 1 - other.decision).all()
