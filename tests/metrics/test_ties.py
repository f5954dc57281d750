"""The order of rows changes nothing: no figure, no budget, no bound, no review list."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from falcon_discover import DataWarning, FalconDiscover, discover, load, metrics
from falcon_discover.bench.pooling import Split, capture_gains
from falcon_discover.data.table import Table
from falcon_discover.data.twins import Content
from falcon_discover.evaluation.budget import missed_bound, review_budget
from falcon_discover.evaluation.curves import capture_curve, missed_curve
from falcon_discover.evaluation.results import evaluate
from falcon_discover.metrics.intervals import share_interval
from falcon_discover.metrics.ordering import Ranking, tie_keys
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.signals.state import State
from support.findings import changed, made_up

BUDGETS = (0.05, 0.10, 0.20, 0.5)
# Confident and not, on both sides; few, so that most rows are tied.
SCORES = (0.02, 0.05, 0.3, 0.93, 0.97)


def test_a_figure_is_its_mean_over_all_orders_of_tied_rows():
    """By brute force: every order of six rows that agrees with the scores."""
    events = np.array([True, False, True, False, True, False])
    score = np.array([0.9, 0.5, 0.5, 0.5, 0.1, 0.1])
    orders = [order for order in permutations(range(6)) if (np.diff(score[list(order)]) <= 0).all()]
    for size in range(1, 7):
        mean = np.mean([events[list(order[:size])].sum() for order in orders])
        assert Ranking.of(score).top(events, size) == pytest.approx(mean)
        assert metrics.fc_count_at(events, score, size / 6) == pytest.approx(mean)


def test_infinite_scores_may_be_tied_too():
    ranking = Ranking.of(np.array([np.inf, np.inf, 1.0]))
    assert ranking.top(np.array([True, False, False]), 1) == 0.5


def test_counts_are_whole_where_they_can_be():
    curve = capture_curve(np.array([True, False, True]), {"a": np.array([3.0, 2.0, 1.0])}, [0.5])
    assert curve["captured"].dtype.kind == "i"


def test_the_interval_of_a_fraction_lies_between_those_of_its_neighbours():
    lower, between, upper = (share_interval(count, 40) for count in (3, 3.5, 4))
    assert lower[0] < between[0] < upper[0]
    assert lower[1] < between[1] < upper[1]
    # The quantiles of the beta distribution meet the exact interval at whole counts.
    assert share_interval(3 + 1e-9, 40) == pytest.approx(lower, abs=1e-6)


def test_a_fraction_is_told_as_about():
    p = np.array([0.95, 0.95, 0.95, 0.05] * 5)
    codes = np.tile([0, 1, 1, 0], 5).astype(np.int8)
    told = evaluate(
        State.from_scores(p),
        codes,
        lambda _, __: np.zeros(20),
        rankers=["same"],
        tau=0.9,
        budgets=(0.05, 0.5),
        taus=(),
    )
    assert "5% (1 row) finds about 0.2 of them; the riskiest 50% (10 rows), about 2.5." in (
        told.verdict()
    )


@st.composite
def tied_rows(draw):
    """Rows with few scores and few values, some of them twins, sorted by label or not."""
    n = draw(st.sampled_from([24, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    p = rng.choice(SCORES, n)
    value = rng.integers(0, draw(st.sampled_from([2, 5, 1_000])), n)
    label = (rng.uniform(size=n) < np.where(rng.uniform(size=n) < 0.2, 1 - p, p)).astype(np.int8)
    order = np.argsort(label, kind="stable") if draw(st.booleans()) else np.arange(n)
    return value[order], p[order], label[order], rng.permutation(n)


def finding(value, p, label, index):
    """A finding on new rows by gated confidence, whose scores are given."""
    found = made_up(len(p))
    table = Table.from_input(pd.DataFrame({"value": value.astype(float), "p": p}, index=index))
    state = State.from_scores(p)
    state = replace(state, evidence=pd.DataFrame(index=state.signals.index))
    rows = TrainingRows(LabelledState(state, label))
    return changed(found, table=table, state=state, codes=label, training=rows, seed=3)


def asked(found):
    """Everything that is asked of a finding and must not depend on the order of its rows."""
    budgets = [found.review_budget(0.3, batch=batch) for batch in (None, 50)]
    bounds = [
        found.missed_bound(0.2, batch=batch, simultaneous=band)
        for batch, band in ((None, False), (None, True), (50, True))
    ]
    evaluation = found.evaluate(budgets=BUDGETS, taus=(0.95,))
    return {
        "captures": evaluation.captures.to_dict("list"),
        "rankings": evaluation.rankings.to_dict("list"),
        "severity": evaluation.severity.to_dict("list"),
        "budgets": [budget.to_dict() for budget in budgets],
        "bounds": [bound.to_dict() for bound in bounds],
        "curve": found.plot._curves.missed().to_dict("list"),
        "capture": found.plot._curves.capture().to_dict("list"),
    }


@settings(max_examples=6, deadline=None)
@given(tied_rows())
def test_no_answer_depends_on_the_order_of_rows(rows):
    value, p, label, order = rows
    first = finding(value, p, label, pd.RangeIndex(len(p)))
    second = finding(value[order], p[order], label[order], pd.Index(order))
    ours, theirs = asked(first), asked(second)
    for name, answer in ours.items():
        # NaN equals itself here.
        assert repr(answer) == repr(theirs[name]), name
    here, there = first.review(0.5), second.review(0.5)
    content = [table.table.frame.loc[list(rows["row"])] for table, rows in
               ((first, here), (second, there))]  # fmt: skip
    assert content[0].to_numpy().tolist() == content[1].to_numpy().tolist()
    if len(np.unique(value)) == len(value):
        assert here.index.tolist() == there.index.tolist()


@settings(max_examples=12, deadline=None)
@given(tied_rows())
def test_functions_of_plain_arrays_do_not_depend_on_the_order_of_rows(rows):
    value, p, label, order = rows
    confidence = np.maximum(p, 1 - p)

    def answers(take):
        events = metrics.false_confidence(label, p)[take]
        score, own = metrics.gated_confidence(confidence)[take], confidence[take]
        content = Content.of(value[take].astype(np.uint64), 1, label[take], p[take])
        figures = [
            (
                metrics.fc_count_at(events, score, budget),
                metrics.capture_at(events, score, budget),
                metrics.captured_surprise(events, score, own, budget),
                missed_bound(events, score, budget=budget),
                missed_bound(events, score, budget=budget, content=content),
            )
            for budget in BUDGETS
        ]
        budgets = [
            review_budget(events, score, own >= 0.9, max_residual_rate=0.3, content=known).to_dict()
            for known in (None, content)
        ]
        curve = missed_curve(events, score, simultaneous=True, content=content)
        return repr((figures, budgets, curve.to_dict("list")))

    assert answers(np.arange(len(p))) == answers(order)


def test_the_seed_draws_the_order_of_tied_rows_and_content_keeps_it():
    found = finding(np.arange(60), np.full(60, 0.95), np.ones(60, np.int8), pd.RangeIndex(60))
    lists = [changed(found, seed=seed).review(0.2).index.tolist() for seed in (3, 3, 4)]
    assert lists[0] == lists[1]
    assert lists[0] != lists[2]
    # Not the position: those would be the first twelve.
    assert sorted(lists[0]) != list(range(12))


def test_rows_of_one_content_and_score_count_by_their_expected_number_rounded_up():
    # Ten rows that nothing tells apart hold three events; half of them hold 1.5, so 2 are left.
    events = np.arange(10) < 3
    same = Content(np.zeros(10, np.uint64), np.arange(10), np.zeros(10), 10)
    for known in (events, events[::-1]):
        assert missed_bound(known, np.zeros(10), budget=0.5, content=same).missed == 2


def test_keys_of_ties_differ_by_seed_for_any_hash():
    hashes = np.arange(1_000, dtype=np.uint64)
    ranks = [tie_keys(hashes, seed).argsort().argsort() for seed in (0, 1)]
    assert abs(np.corrcoef(ranks)[0, 1]) < 0.15


def test_resampled_captures_share_ties_as_single_captures_do():
    rng = np.random.default_rng(0)
    events, score = rng.uniform(size=60) < 0.3, rng.integers(0, 4, 60).astype(float)
    last = -np.arange(60.0)
    split = Split(np.arange(60), events, score, last)
    resampled = capture_gains([split], resamples=10, seed=4)
    again = np.random.default_rng(4)
    for gain in resampled:
        drawn = again.integers(0, 60, 60)
        both = [metrics.capture_at(events[drawn], s[drawn], 0.2) for s in (score, last)]
        assert gain == pytest.approx(both[0] - both[1])


@pytest.fixture(scope="module")
def sorted_file():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc"))
    y = (X["a"] + rng.normal(size=900) > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:300], y[:300])
    by_label = y[300:].sort_values(kind="stable").index
    return tree, X.loc[by_label], y.loc[by_label]


def permuted(found, order):
    """The same finding with its rows, states and scores in another order."""
    state = found.state.take(order)
    rows = LabelledState(replace(state, fold=None), found.codes[order])
    table = found.table.take(order)
    return changed(
        found,
        table=table,
        state=state,
        codes=found.codes[order],
        training=TrainingRows(rows),
    )


@pytest.mark.parametrize("kind", ["discover", "frozen", "new rows"])
def test_a_file_sorted_by_label_gives_what_a_shuffled_one_gives(sorted_file, kind):
    tree, X, y = sorted_file
    options = {"tau": 0.8, "ranker": "gated_confidence", "random_state": 0}
    order = np.random.default_rng(1).permutation(len(X))
    if kind == "discover":
        first = discover(X, y, tree.predict_proba(X)[:, 1], **options)
        second = permuted(first, order)
    else:
        falcon = FalconDiscover(FrozenEstimator(tree), **options).fit(X, y)
        if kind == "frozen":
            first = falcon.examine()
            second = permuted(first, order)
        else:
            with pytest.warns(DataWarning, match="also rows of the fit"):
                first = falcon.examine(X, y)
            with pytest.warns(DataWarning, match="also rows of the fit"):
                second = falcon.examine(X.iloc[order], y.iloc[order])
    assert len(np.unique(first.suspicion())) <= 8
    ours, theirs = asked(first), asked(second)
    assert repr(ours) == repr(theirs)
    assert first.review(0.1).index.tolist() == second.review(0.1).index.tolist()
    # By position it would be all rows of the label that comes first in the file.
    assert 0 < y.loc[first.review(0.1).index].mean() < 1


def test_saved_audits_break_ties_as_before(sorted_file, tmp_path):
    _, X, y = sorted_file
    X = X.assign(kind=np.where(X["b"] > 0, "x", None))
    y = y.to_numpy()
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    chosen = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), model)
    falcon = FalconDiscover(
        FrozenEstimator(chosen.fit(X, y)),
        tau=0.8,
        ranker="gated_confidence",
        random_state=np.random.RandomState(5),
    ).fit(X, y)
    new = X.iloc[::2], y[::2]
    before, before_new = falcon.examine(), quiet(falcon, *new)
    for keep in ("full", "none"):
        again = load(falcon.save(tmp_path / f"{keep}.falcon", keep))
        if keep == "full":
            assert same(again.examine(), before)
        assert same(quiet(again, *new), before_new)


def quiet(falcon, X, y):
    with pytest.warns(DataWarning):
        return falcon.examine(X, y)


def same(found, other) -> bool:
    lists = [f.review(0.2).index.tolist() for f in (found, other)]
    bounds = [f.missed_bound(0.2).upper for f in (found, other)]
    budgets = [f.review_budget(0.05).budget for f in (found, other)]
    return lists[0] == lists[1] and bounds[0] == bounds[1] and budgets[0] == budgets[1]
