"""An audit saved without reference rows answers every question, or says what is missing."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from falcon_discover import DataWarning, InputError, load
from falcon_discover.calibration.calibrators import CALIBRATORS
from falcon_discover.plots.accessor import FIGURES
from support.saving import MIXED, NEW, small_audit

mpl.use("Agg")
X, y = NEW.X[MIXED], NEW.y
MISSING = "left out when this audit was saved"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return load(small_audit().save(tmp_path_factory.mktemp("bare") / "audit.falcon", "none"))


def examined(bare, *rows):
    with pytest.warns(DataWarning, match="without reference rows"):
        return bare.examine(*rows)


@pytest.mark.parametrize("rows", [(X, y), (X,)])
def test_the_report_of_new_rows_is_written_and_names_what_is_missing(bare, rows, tmp_path):
    with pytest.warns(DataWarning, match="without reference rows"):
        bare.report(tmp_path / "report", *rows)
    text = (tmp_path / "report" / "report.md").read_text()
    assert "The audit was saved without reference rows, and regions need their signals" in text
    if len(rows) == 2:
        assert "The audit was saved without reference rows, so the stability signals" in text
        assert f"learn from the rows of the fit, which were {MISSING}" in text
        assert "no model to probe" not in text


def test_regions_are_an_empty_set_that_says_why(bare):
    regions = bare.regions_
    assert regions.confirmed == ()
    assert list(regions) == []
    assert len(regions) == len(regions.frame()) == len(regions.clusters) == 0
    assert "saved without reference rows" in str(regions)
    labelled = examined(bare, X, y)
    assert list(labelled.regions) == []
    assert "saved without reference rows" in str(labelled)
    assert "no model" not in str(labelled)


@pytest.mark.parametrize("method", [*CALIBRATORS, "discrepancy"])
def test_a_calibrator_says_that_it_has_nothing_to_learn_from(bare, method):
    with pytest.raises(InputError, match=MISSING):
        bare.calibrated(method)
    with pytest.raises(InputError, match=MISSING):
        bare.calibrated(method, weighted=True)


@pytest.mark.parametrize(
    "ask",
    ["score_samples", "review", "evaluate", "contributions", "conflict", "calibration_weights"],
)
def test_questions_about_the_rows_of_the_fit_are_answered_with_a_sentence(bare, ask):
    with pytest.raises(InputError, match=MISSING):
        getattr(bare, ask)()


def test_figures_and_report_of_the_rows_of_the_fit_ask_for_rows(bare, tmp_path):
    with pytest.raises(InputError, match=r"examine\(X, y\)\.plot"):
        _ = bare.plot
    with pytest.raises(InputError, match=MISSING):
        bare.report(tmp_path / "report")
    assert not (tmp_path / "report").exists()
    with pytest.raises(InputError, match=MISSING):
        bare.review_budget(0.01)


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_of_new_rows_is_drawn_or_says_what_is_missing(bare, name):
    plots = examined(bare, X, y).plot
    if name in ("conflict", "contributions", "calibration"):
        with pytest.raises(InputError, match=MISSING):
            getattr(plots, name)()
    else:
        assert getattr(plots, name)().get_xlabel()
    plt.close("all")


def test_new_labelled_rows_are_judged(bare):
    found = examined(bare, X, y)
    assert 0 <= found.missed_bound(0.2).upper <= 1
    assert found.review_budget(0.5).max_residual_rate == 0.5
    for ask in (found.conflict, found.calibration_weights, found.contributions):
        with pytest.raises(InputError, match=MISSING):
            ask()


@pytest.mark.parametrize("ranker", ["auto", "learned_oof", "s_stab"])
def test_a_ranker_that_needs_the_rows_of_the_fit_is_refused(bare, ranker):
    with pytest.raises(InputError, match=f"the ranker '{ranker}' .*{MISSING}"):
        examined(bare, X).score(ranker, 0.9)
