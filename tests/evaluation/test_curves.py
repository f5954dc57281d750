from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from falcon_discover import InputError, datasets, discover, metrics
from falcon_discover.audit.curves import Curves
from falcon_discover.evaluation.curves import (
    capture_curve,
    missed_curve,
    random_band,
    reliability,
)
from falcon_discover.plots.accessor import FIGURES
from falcon_discover.rankers.training import LabelledState, TrainingRows
from support.chance import often
from support.findings import made_up


@pytest.fixture(scope="module")
def found():
    return made_up(2_000)


def test_the_capture_curve_is_the_metric_at_every_budget(found):
    curve = Curves(found).capture()
    events = metrics.false_confidence(found.codes, found.state.p, found.tau)
    for line in curve.sample(30, random_state=0).itertuples():
        score = found.score(line.ranker, found.tau)
        assert line.captured == metrics.fc_count_at(events, score, line.budget)
        assert line.low <= line.capture <= line.high
    assert set(curve["ranker"]) == {"gated_confidence", "s_disc", "s_stab", "confidence"}
    assert curve["ranker"].iloc[0] == "gated_confidence"


def test_the_random_band_holds_what_random_reviews_find(global_random_seed):
    events = np.arange(500) < 40
    band = random_band(500, 40, [0.1, 0.4])
    rng = np.random.default_rng(global_random_seed)
    found = capture_curve(events, {str(i): rng.uniform(size=500) for i in range(400)}, [0.1, 0.4])
    for line in band.itertuples():
        shares = found.loc[found["budget"] == line.budget, "capture"]
        assert often(shares.between(line.low - 1e-9, line.high + 1e-9), 0.95)
        assert shares.mean() == pytest.approx(line.mean, abs=4 * shares.std() / 20)


def test_the_missed_curve_agrees_with_the_bound_of_one_budget(found):
    curve = Curves(found).missed().set_index("budget")
    bound = found.missed_bound(0.2)
    line = curve.loc[0.2]
    assert (line["unreviewed"], line["missed"]) == (bound.unreviewed, bound.missed)
    assert line["upper"] == pytest.approx(bound.upper)
    assert curve.loc[1.0, "upper"] == 0.0


def test_missed_rates_fall_to_zero_once_all_eligible_rows_are_read(found):
    share = found.state.eligible(found.tau).mean()
    events = metrics.false_confidence(found.codes, found.state.p, found.tau)
    assert missed_curve(events, found.suspicion(), [share + 0.01])["missed"].tolist() == [0]


def test_reliability_bins_hold_every_row_once(found):
    table = reliability(found.codes, found.state.p)
    assert table["rows"].sum() == len(found.state)
    right = (found.state.decision == found.codes).sum()
    assert table["right"].sum() == right
    assert (table["confidence"].between(table["from"], table["to"])).all()


@pytest.mark.parametrize("tau", [0.5, 0.83, 0.9, 0.999])
def test_the_histogram_marks_exactly_the_eligible_rows(tau):
    found = made_up(3_000, tau=tau)
    table = Curves(found).confidence()
    marked = table[table["eligible"]]
    assert table["rows"].sum() == 3_000
    assert marked["rows"].sum() == found.state.eligible(tau).sum()
    events = metrics.false_confidence(found.codes, found.state.p, tau)
    assert marked["wrong"].sum() == events.sum()


def test_recalibration_leaves_the_figures_before_as_they_are(found):
    table = Curves(found).recalibration().table.set_index("method")
    assert table.loc["before", "nll"] == pytest.approx(metrics.nll(found.codes, found.state.p))
    events = metrics.false_confidence(found.codes, found.state.p, found.tau)
    assert table.loc["before", "confident_errors"] == events.sum()
    assert list(table.index) == ["before", "platt", "discrepancy", "discrepancy_auto"]
    assert table.loc["before", "errors_at_coverage"] == events.sum()
    assert table.loc["before", "auroc"] == metrics.fc_auroc(found.codes, found.state.p)


def test_recalibration_mends_scores_that_are_too_sure():
    found = made_up(3_000)
    odds = np.log(found.state.p.clip(1e-9, 1 - 1e-9) / (1 - found.state.p.clip(1e-9, 1 - 1e-9)))
    sure = replace(found.state, p=1 / (1 + np.exp(-4 * odds)))
    rows = LabelledState(sure, found.codes)
    for own in (True, False):
        audit = replace(found.audit, training=TrainingRows(rows))
        shaken = replace(found, audit=audit, state=sure, is_fit_rows=own)
        table = Curves(shaken).recalibration().table.set_index("method")
        assert (table.loc[["platt", "discrepancy"], "nll"] < 0.7 * table.loc["before", "nll"]).all()
        errors = table["confident_errors"]
        assert (errors[["platt", "discrepancy"]] < errors["before"]).all()


def test_figures_that_need_labels_ask_for_them():
    unlabelled = made_up(200, labelled=False)
    with pytest.raises(InputError, match="pass y with X"):
        unlabelled.plot.capture()
    assert unlabelled.plot.confidence().get_xlabel() == "confidence"


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_with_labelled_axes(name):
    pytest.importorskip("matplotlib")
    found = made_up(1_500)
    axes = getattr(found.plot, name)()
    axes.figure.canvas.draw()
    assert axes.get_xlabel() or axes.get_ylabel()
    assert axes.has_data()


def test_a_figure_can_be_drawn_into_given_axes():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert made_up(500).plot.reliability(axes=axes) is axes


def test_regions_are_drawn_with_the_rate_of_all_first():
    planted = datasets.make_planted(3_000, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    table = Curves(found).regions()
    assert table["kind"].iloc[0] == "all"
    assert table["confirmed"].any()
    axes = found.plot.regions()
    assert len(axes.get_yticks()) == 1 + table["confirmed"].sum()
