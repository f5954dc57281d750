"""Scores that cannot be what they are said to be are noticed; honest ones are left alone."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import DataWarning, FalconDiscover, datasets, discover, load
from falcon_discover.cli import app
from falcon_discover.evaluation.plausibility import alerts, by_heart
from falcon_discover.evaluation.sources import CROSS_FITTED, GIVEN_SCORES, NEW_ROWS
from falcon_discover.exceptions import InputError
from falcon_discover.report import About, Report, html, markdown
from falcon_discover.report.sections import verdict
from falcon_discover.runtime import notices
from falcon_discover.signals.state import State

CLASSES = np.array(["churned", "stayed"])
BACKWARDS = "rank the labels backwards (AUROC 0."
BY_HEART = "trained on these rows: its AUROC is 1.000"


@pytest.fixture(scope="module")
def rows():
    """Three hundred labelled rows, a score that is right and a score by a forest's own memory."""
    planted = datasets.make_planted(300, random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)
    y = CLASSES[planted.y]
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    return X, y, planted.proba, forest


def audited(X, y, proba, *, ranker="gated_confidence", **options):
    """Return a finding and what was noticed; only the ranker "auto" asks for second opinions."""
    with notices.collected() as notes:
        found = discover(X, y, proba, ranker=ranker, random_state=0, **options)
    return found, list(notes)


def test_scores_of_the_other_label_are_said_to_be_backwards(rows):
    X, y, proba, _ = rows
    found, notes = audited(X, y, 1 - proba)
    assert BACKWARDS in found.alerts[0]
    assert "add --positive churned (in Python: positive='churned')" in found.alerts[0]
    assert found.alerts[0] in notes
    assert repr(found).startswith(f"WARNING: {found.alerts[0]}")
    with pytest.warns(DataWarning, match="backwards"):
        discover(X, y, 1 - proba, ranker="gated_confidence", random_state=0)


def test_naming_the_label_of_the_scores_puts_them_right(rows):
    X, y, proba, _ = rows
    right, _ = audited(X, y, proba)
    named, notes = audited(X, y, 1 - proba, positive="churned")
    assert named.alerts == ()
    assert not any("backwards" in note for note in notes)
    np.testing.assert_allclose(named.state.p, right.state.p)
    assert "p is the probability of 'stayed'; the scores passed in were those of 'churned'" in repr(
        named
    )


def test_the_advice_is_the_other_label_also_where_one_was_named(rows):
    X, y, proba, _ = rows
    found, _ = audited(X, y, proba, positive="churned")
    assert "--positive stayed" in found.alerts[0]


def test_a_label_that_is_not_there_cannot_be_the_positive_one(rows):
    X, y, proba, _ = rows
    with pytest.raises(InputError, match="positive is 'left', but the labels are"):
        discover(X, y, proba, positive="left")
    with pytest.raises(InputError, match="proba has more"):
        discover(X, y, np.column_stack([1 - proba, proba]), positive="stayed")


def test_a_frozen_model_that_takes_the_labels_for_each_other_is_noticed(rows):
    X, y, _, _ = rows
    turned = LogisticRegression(max_iter=500).fit(X, np.where(y == "stayed", "churned", "stayed"))
    with pytest.warns(DataWarning, match="Check that 'churned' and 'stayed'"):
        FalconDiscover(FrozenEstimator(turned), ranker="gated_confidence").fit(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_a_useless_model_is_not_accused(seed):
    rng = np.random.default_rng(seed)
    p, codes = rng.uniform(size=2_000), rng.integers(0, 2, 2_000).astype(np.int8)
    assert alerts(State.from_scores(p), codes, CLASSES) == ()


def test_a_handful_of_rows_is_too_few_to_accuse():
    p = np.linspace(0.1, 0.9, 12)
    assert alerts(State.from_scores(p), (p < 0.5).astype(np.int8), CLASSES) == ()


def test_scores_that_are_the_labels_are_noticed(rows):
    X, y, _, _ = rows
    found, notes = audited(X, y, (y == "stayed").astype(float))
    assert found.alerts[0].startswith("These scores are the labels themselves")
    assert found.alerts[0] in notes


def test_scores_of_training_rows_are_noticed(rows):
    X, y, _, forest = rows
    found, notes = audited(X, y, forest.predict_proba(X)[:, 1], ranker="auto")
    assert BY_HEART in found.alerts[0]
    assert found.alerts[0] in notes
    with notices.collected():
        verdict = found.evaluate(taus=()).verdict()
        statements = found.review_budget(0.02), found.missed_bound(0.2)
    assert verdict.endswith("nothing to rank.")
    for statement in statements:
        assert str(statement).startswith(found.alerts[0])
        assert "before you rely on this" in str(statement)


def test_a_frozen_model_on_its_training_rows_is_noticed_and_stays_so_when_loaded(rows, tmp_path):
    X, y, _, forest = rows
    with notices.collected() as notes:
        falcon = FalconDiscover(FrozenEstimator(forest), random_state=0).fit(X, y)
    assert any(BY_HEART in note for note in notes)
    loaded = load(falcon.save(tmp_path / "a.falcon"))
    assert loaded.examine().alerts == falcon.examine().alerts != ()
    assert loaded.examine().source == GIVEN_SCORES


def test_the_same_kind_of_model_on_rows_it_has_not_seen_is_left_alone(rows):
    X, y, _, _ = rows
    other = datasets.make_planted(300, random_state=1)
    forest = RandomForestClassifier(50, random_state=0)
    forest.fit(other.X.select_dtypes("number").fillna(0), CLASSES[other.y])
    found, _ = audited(X, y, forest.predict_proba(X)[:, 1], ranker="auto")
    assert found.alerts == ()


def test_nothing_is_asked_of_a_model_that_was_cross_fitted_here(rows):
    X, y, _, _ = rows
    model = LogisticRegression(max_iter=500)
    found = FalconDiscover(model, ranker="gated_confidence").fit(X, y).examine()
    assert found.source == CROSS_FITTED
    assert found.alerts == ()


@pytest.mark.parametrize(
    ("area", "reached", "right", "expected"),
    [
        (1.0, 0.8, 30, True),
        (1.0, 0.8, 15, False),  # right on half of what the others get wrong
        (0.9, 0.8, 30, False),  # better, as with more training rows
        (1.0, 1.0, 0, False),  # an easy problem: nobody is wrong
    ],
)
def test_memory_needs_both_a_far_better_ranking_and_the_odd_rows(area, reached, right, expected):
    assert by_heart(area, reached, np.arange(30 if right else 0) < right) is expected


def test_bare_scores_are_only_assumed_to_be_of_unseen_rows(rows):
    X, y, proba, _ = rows
    found, _ = audited(X, y, proba)
    assert "each judged by a ranker that has not seen it" in found.source
    assert "provided that the model has not seen them either" in found.source
    assert found.source in str(found.review_budget(0.05))
    sure, _ = audited(X, y, np.where(y == "stayed", 0.97, 0.02))
    verdict = sure.evaluate(taus=()).verdict()
    assert verdict.endswith("these and provided that the model has not seen these rows.")


def test_new_rows_are_not_promised_to_be_new(rows):
    X, y, _, _ = rows
    model = LogisticRegression(max_iter=500)
    falcon = FalconDiscover(model, ranker="gated_confidence").fit(X[:200], y[:200])
    new = falcon.examine(X[200:], y[200:])
    assert new.source == NEW_ROWS
    assert "provided that neither the model nor the ranker has seen them" in str(
        new.missed_bound(0.2)
    )


@pytest.fixture(scope="module")
def backwards_report(rows):
    X, y, proba, _ = rows
    found, _ = audited(X, y, 1 - proba)
    return Report.of(found, About(contributions=False)), found.alerts[0]


def test_a_report_begins_with_the_alert_and_says_whose_probability_the_score_is(backwards_report):
    report, alert = backwards_report
    summary = report.summary
    assert summary["alerts"] == [alert]
    assert summary["notes"][0] == alert
    assert summary["data"]["positive"] == "stayed"
    page, text = html(report), markdown(report)
    assert page.index('class="alert"') < page.index('id="verdict"')
    assert alert in unescape(page)
    assert text.index("AUROC") < text.index(verdict(summary))
    assert verdict(summary).key == "verdict.doubtful"
    assert 'id="fact-score"' in page
    for words in (unescape(page), text):
        assert "'stayed'" in words


@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]])
def test_the_terminal_begins_with_the_alert(rows, tmp_path, options):
    X, y, proba, _ = rows
    X.assign(target=y, score=1 - proba).to_csv(tmp_path / "t.csv", index=False)
    words = ["audit", tmp_path / "t.csv", "--target", "target", "--proba", "score", "--out",
             tmp_path / "out", "--no-contributions", "--ranker", "gated_confidence"]  # fmt: skip
    result = CliRunner().invoke(app, [*map(str, words), *options])
    assert result.exit_code == 0, result.output
    first = result.stderr if options else result.stdout
    assert first.startswith("WARNING: These scores rank the labels backwards")
    if not options:
        assert "score = probability of 'stayed'." in result.stdout
    if options == ["--json"]:
        assert BACKWARDS in json.loads(result.stdout)["alerts"][0]


def test_the_target_as_the_score_is_refused(rows, tmp_path):
    X, y, _, _ = rows
    pd.DataFrame(X).assign(target=(y == "stayed").astype(int)).to_csv(tmp_path / "t.csv")
    words = ["audit", tmp_path / "t.csv", "--target", "target", "--proba", "target"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 1
    assert "both name the column 'target'" in result.stderr
