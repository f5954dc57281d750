"""`learn`: what reviewed rows change, and what they must not."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover, datasets, load
from falcon_discover.exceptions import DataWarning, InputError
from falcon_discover.monitoring.learn import enough_marks
from support.many_classes import many_classes
from support.saving import rewritten

ROWS = datasets.make_planted(1_500, random_state=0)
TRUSTED = ["falcon_discover.datasets.planted.PlantedModel"]
FIT, LATER = slice(0, 900), slice(900, 1_500)
X, Y = ROWS.X[LATER].reset_index(drop=True), ROWS.y[LATER]


@pytest.fixture(scope="module")
def falcon():
    frozen = FrozenEstimator(ROWS.model)
    return FalconDiscover(frozen, cv=3, random_state=0).fit(ROWS.X[FIT], ROWS.y[FIT])


@pytest.fixture(scope="module")
def top(falcon):
    """The rows that reviewers looked at."""
    return falcon.review(X, budget=60)["row"].to_numpy()


@pytest.fixture(scope="module")
def wiser(falcon, top):
    return falcon.learn(X.iloc[top], Y[top])


def said_of(falcon) -> list[np.ndarray]:
    """What an audit says of its own rows and of others, as far as it is numbers."""
    own, new = falcon.examine(), falcon.examine(X)
    return [
        own.suspicion(), own.risk(), *own.risk_interval(),
        new.suspicion(), new.risk(), *new.risk_interval(), falcon.predict_proba(X),
    ]  # fmt: skip


def test_the_old_audit_stays_as_it_was(falcon, top):
    before, review = said_of(falcon), falcon.review(X, budget=0.1)
    falcon.learn(X.iloc[top], 1 - Y[top])
    for was, now in zip(before, said_of(falcon), strict=True):
        np.testing.assert_array_equal(was, now)
    pd.testing.assert_frame_equal(review, falcon.review(X, budget=0.1))
    assert falcon.learned_ is None


def test_model_reference_and_regions_are_the_same(falcon, wiser):
    for part in ("model", "reference", "regions", "builder", "view", "table"):
        assert getattr(wiser.audit_, part) is getattr(falcon.audit_, part)
    assert wiser.model_ is falcon.model_
    np.testing.assert_array_equal(wiser.predict_proba(X), falcon.predict_proba(X))
    was, now = (audit.examine(X, Y).regions.frame() for audit in (falcon, wiser))
    pd.testing.assert_frame_equal(was, now)


def test_recalibrated_models_do_not_learn_from_rows_chosen_by_risk(falcon, wiser):
    was, now = (audit.calibrated("platt").predict_proba(X) for audit in (falcon, wiser))
    np.testing.assert_array_equal(was, now)


def test_what_changed_is_said(falcon, wiser, top):
    told = wiser.learned_
    events = falcon.examine(X, Y).events[top]
    assert (told.rows, told.new_rows, told.wrong) == (60, 60, events.sum())
    assert told.expected == pytest.approx(falcon.examine(X).risk()[top].sum())
    confident = falcon.examine().state.eligible(0.9)
    assert told.rate_before == pytest.approx(falcon.examine().risk()[confident].mean())
    assert told.rate_after == pytest.approx(wiser.examine().risk()[confident].mean())
    assert told.top == 45  # 5% of 900
    assert 0 < told.top_kept <= told.top
    assert "Learned from 60 reviewed confident predictions." in repr(told)
    assert "Next:" in repr(told)
    assert told.to_dict()["rows"] == told.frame().loc[0, "rows"] == 60
    assert "<p>" in told._repr_html_()


def test_risk_stays_between_its_ends_and_0_below_the_threshold(wiser):
    for found in (wiser.examine(), wiser.examine(X)):
        risk, (low, high) = found.risk(), found.risk_interval()
        assert ((low <= risk) & (risk <= high)).all()
        below = ~found.state.eligible(0.9)
        assert (risk[below] == 0).all()
        assert (high[below] == 0).all()


def test_a_rule_that_changed_is_learned(falcon):
    changed = np.where(X["colour"].eq("red"), 1 - falcon.predict(X), Y)
    some = np.arange(0, 600, 2)
    after = falcon.learn(X.iloc[some], changed[some])
    others = np.arange(1, 600, 2)
    was, now = (audit.examine(X.iloc[others]).risk() for audit in (falcon, after))
    sure = was > 0
    red = X["colour"].iloc[others].eq("red").to_numpy()
    assert now[red & sure].mean() > 2 * was[red & sure].mean()
    assert now[red & sure].mean() > 2 * now[~red & sure].mean()
    assert "too few" in after.learned_.words()


def test_learning_in_steps_keeps_all_that_was_learned(falcon, top):
    first = falcon.learn(X.iloc[top[:30]], Y[top[:30]])
    both = first.learn(X.iloc[top[30:]], Y[top[30:]])
    at_once = falcon.learn(X.iloc[top], Y[top])
    np.testing.assert_allclose(both.score_samples(X), at_once.score_samples(X), rtol=1e-6)
    np.testing.assert_allclose(both.score_samples(), at_once.score_samples(), rtol=1e-6)
    told = both.learned_
    assert (told.rounds, told.rows, told.new_rows) == (2, 60, 30)
    assert "In 2 rounds so far it has learned from 60 reviewed predictions" in told.words()


def test_order_of_rows_does_not_matter(wiser, falcon, top):
    other = falcon.learn(X.iloc[top[::-1]], Y[top[::-1]])
    np.testing.assert_allclose(other.score_samples(X), wiser.score_samples(X), rtol=1e-8)


def test_marks_teach_what_labels_teach(falcon, wiser, top):
    wrong = falcon.predict(X.iloc[top]) != Y[top]
    other = falcon.learn(X.iloc[top], wrong=wrong)
    np.testing.assert_array_equal(other.score_samples(X), wiser.score_samples(X))


@pytest.fixture(scope="module")
def saved(wiser, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "audit.falcon"
    with pytest.warns(DataWarning, match="not known to be safe"):
        wiser.save(path)
    return path


@pytest.mark.parametrize("keep", ["sample", "none"])
def test_a_learned_audit_is_saved_and_learns_on(wiser, keep, tmp_path):
    path = tmp_path / "audit.falcon"
    with pytest.warns(DataWarning, match="not known to be safe"):
        wiser.save(path, reference=keep)
    again = load(path, trusted=TRUSTED)
    if keep == "none":
        with pytest.raises(InputError, match="were left out when this audit was saved"):
            again.learn(X, Y)
        return
    assert repr(again.learned_) == repr(wiser.learned_)
    # There are fewer rows than a sample would have, so both are whole.
    np.testing.assert_array_equal(again.score_samples(X), wiser.score_samples(X))
    np.testing.assert_array_equal(again.score_samples(), wiser.score_samples())
    more = X.iloc[500:], Y[500:]
    np.testing.assert_array_equal(
        again.learn(*more).score_samples(X), wiser.learn(*more).score_samples(X)
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda parts, m: m["learned"].update(rows=-1), "gives learned.rows as -1"),
        (lambda parts, m: m["learned"].pop("expected"), "lacks learned.expected"),
        (lambda parts, m: m.update(learned=[]), r"gives learned as \[\]"),
        (lambda parts, m: m["learned"].update(reviewed_rows=7), "has 60 rows instead of 7"),
        (lambda parts, m: m["learned"].update(strange=7), "cannot be used"),
        (
            lambda parts, m: (parts.pop("reviewed_rows.parquet"), m["parts"].pop(
                "reviewed_rows.parquet"
            )),
            "does not list the part reviewed_rows.parquet",
        ),
    ],
)  # fmt: skip
def test_altered_files_are_refused(saved, change, sentence):
    with pytest.raises(InputError, match=sentence):
        load(rewritten(saved, change), trusted=TRUSTED)


def test_an_audit_saved_by_0_1_0_learns():
    falcon = load(Path(__file__).parents[1] / "data" / "auto-saved-by-0.1.0.falcon")
    rows = datasets.make_planted(200, random_state=5)
    names = list(falcon.feature_names_in_)
    assert falcon.learned_ is None
    wiser = falcon.learn(rows.X[names], rows.y)
    assert wiser.learned_.rows > 0
    assert (wiser.score_samples(rows.X[names]) != falcon.score_samples(rows.X[names])).any()


def test_a_learned_audit_answers_what_any_audit_answers(wiser, tmp_path):
    found = wiser.examine(X, Y)
    assert 0 <= found.evaluate(taus=(0.8,)).frame()["capture"].max() <= 1
    assert found.review(5)["reason"].str.len().gt(0).all()
    page = wiser.report(tmp_path / "page.html", X, Y, contributions=False)
    assert page.stat().st_size > 0


def test_rows_that_the_audit_knows_are_left_out(falcon, wiser, top):
    both = pd.concat([ROWS.X[FIT][:20], X.iloc[top]])
    other = falcon.learn(both, np.concatenate([ROWS.y[FIT][:20], Y[top]]))
    assert other.learned_.already_known == 20
    assert "Left out, because the audit knows them: 20 rows." in other.learned_.words()
    np.testing.assert_array_equal(other.score_samples(X), wiser.score_samples(X))
    with pytest.raises(InputError, match="the audit knows these rows already"):
        falcon.learn(ROWS.X[FIT], ROWS.y[FIT])
    with pytest.raises(InputError, match="the audit knows these rows already"):
        wiser.learn(X.iloc[top], Y[top])


def test_rows_below_the_threshold_say_nothing_about_confident_ones(falcon, wiser, top):
    below = np.flatnonzero(~falcon.examine(X).state.eligible(0.9))
    with pytest.raises(InputError, match=r"none of the .* new rows is a confident prediction"):
        falcon.learn(X.iloc[below], Y[below])
    rows = np.concatenate([top, below])
    other = falcon.learn(X.iloc[rows], Y[rows])
    assert other.learned_.below == len(below)
    np.testing.assert_array_equal(other.score_samples(X), wiser.score_samples(X))


@pytest.mark.parametrize("count", [1, 60])
def test_marks_of_one_kind_move_the_risk_and_leave_it_a_probability(falcon, top, count):
    rows = top[:count]
    right, wrong = (falcon.learn(X.iloc[rows], wrong=np.full(count, said)) for said in (0, 1))
    less, more = (audit.examine(X).risk() for audit in (right, wrong))
    assert less[rows].mean() < more[rows].mean()
    assert ((more >= 0) & (more < 1)).all()
    assert np.isfinite(less).all()
    assert "Learned from" in right.learned_.words()


def test_unseen_categories_and_gaps_are_taken(falcon):
    odd = X.iloc[:80].assign(colour="violet", height=np.nan)
    with pytest.warns(DataWarning, match="violet"):
        other = falcon.learn(odd, Y[:80])
    assert np.isfinite(other.score_samples(X)).all()


def test_row_labels_may_repeat(falcon, wiser, top):
    other = falcon.learn(X.iloc[top].set_axis([7] * len(top)), Y[top])
    np.testing.assert_array_equal(other.score_samples(X), wiser.score_samples(X))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "needs either y, the true labels, or wrong"),
        ({"y": Y, "wrong": Y}, "needs either y, the true labels, or wrong"),
        ({"y": Y[:5]}, "X has 600 rows and y has 5"),
        ({"wrong": np.zeros(5, bool)}, "X has 600 rows and wrong has 5"),
        ({"wrong": np.full(600, 2)}, "values other than True and False"),
        ({"y": np.full(600, 7)}, "which is neither 0 nor 1"),
        ({"y": Y, "proba": ROWS.proba[LATER]}, "from its own model"),
        ({"y": Y, "sample_weight": np.full(600, -1.0)}, "sample_weight"),
    ],
)
def test_wrong_input_is_answered_in_a_sentence(falcon, given, sentence):
    with pytest.raises(InputError, match=sentence):
        falcon.learn(X, **given)


def test_rankers_without_a_risk_say_what_is_missing():
    falcon = FalconDiscover(
        FrozenEstimator(ROWS.model), ranker="gated_confidence", cv=2, random_state=0
    ).fit(ROWS.X[:200], ROWS.y[:200])
    with pytest.raises(InputError, match=r"'gated_confidence' estimates no risk .* ranker='auto'"):
        falcon.learn(X, Y)


def test_texts_as_labels_and_severity():
    names = np.array(["no", "yes"])
    model = LogisticRegression().fit(ROWS.X[["signal_a", "signal_b"]], names[ROWS.y])
    falcon = FalconDiscover(
        FrozenEstimator(model), severity="surprise", tau=0.8, cv=2, random_state=0
    )
    table = ROWS.X[["signal_a", "signal_b"]]
    falcon.fit(table[:400], names[ROWS.y[:400]])
    other = falcon.learn(table[400:], names[ROWS.y[400:]])
    assert other.learned_.rows > 0
    found = other.examine(table[400:])
    assert (found.suspicion() >= found.risk()).all()


def test_predictions_alone_learn_with_their_scores():
    falcon = FalconDiscover("precomputed", cv=2, random_state=0)
    falcon.fit(ROWS.X[:300], ROWS.y[:300], proba=ROWS.proba[:300])
    with pytest.raises(InputError, match="pass the scores of these rows as proba"):
        falcon.learn(X, Y)
    other = falcon.learn(X, Y, proba=ROWS.proba[LATER])
    assert other.learned_.rows == (np.abs(ROWS.proba[LATER] - 0.5) >= 0.4).sum()


def test_groups_and_weights():
    table, y = ROWS.X[:300], ROWS.y[:300]
    frozen = FrozenEstimator(ROWS.model)
    weight = np.where(y, 1.0, 2.0)
    falcon = FalconDiscover(frozen, cv=2, random_state=0)
    falcon.fit(table, y, groups=np.arange(300) // 3, sample_weight=weight)
    light = falcon.learn(X, 1 - Y, sample_weight=np.full(600, 0.01))
    heavy = falcon.learn(X, 1 - Y, sample_weight=np.full(600, 1.0))
    was, little, much = (audit.examine(X).risk().mean() for audit in (falcon, light, heavy))
    assert was < little < much


@pytest.mark.parametrize("known", ["labels", "marks"])
def test_more_than_two_classes(known):
    table, y = many_classes(400, 0, 3)
    numbers = table[["steps", "size"]] + 0.01 * np.arange(400)[:, None]  # no row twice
    model = LogisticRegression().fit(numbers, y)
    falcon = FalconDiscover(FrozenEstimator(model), tau=0.5, cv=2, random_state=0)
    falcon.fit(numbers[::2], y[::2])
    later, y = numbers[1::2], y[1::2]
    given = {"y": y} if known == "labels" else {"wrong": falcon.predict(later) != y}
    other = falcon.learn(later, **given)
    events = falcon.examine(later, y).events
    assert events.any()
    assert other.learned_.wrong == events.sum()
    assert (other.score_samples(later) != falcon.score_samples(later)).any()


class Curve(ClassifierMixin, BaseEstimator):
    """A model that is confident only where `load` is high."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = np.where(X["load"] > 50, expit(4 * (X["signal_a"] + X["signal_b"])), 0.6)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] >= 0.5).astype(int)


@pytest.mark.parametrize("confident", [0, 1, 200])
def test_audits_that_had_little_to_learn_from(confident):
    numbers = ROWS.X[["signal_a", "signal_b", "load"]].fillna(0.0)
    own = numbers[:200].assign(load=np.where(np.arange(200) < confident, 99.0, 0.0))
    # No confident error at all; rows below the threshold are of both classes.
    y = np.where(own["load"] > 50, Curve().predict(own), np.arange(200) % 2)
    falcon = FalconDiscover(FrozenEstimator(Curve()), cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        falcon.fit(own, y)
    later = numbers[200:400].assign(load=99.0)
    other = falcon.learn(later, 1 - Curve().predict(later))
    was, now = (audit.examine(later).risk().mean() for audit in (falcon, other))
    assert now > was + 0.1
    assert np.isfinite(other.score_samples()).all()
    assert "too few" in other.learned_.words()


def test_enough_marks_needs_right_ones_and_wrong_ones():
    assert not enough_marks(0, 0)
    assert not enough_marks(200, 0)
    assert not enough_marks(200, 200)
    assert enough_marks(40, 8)
