"""`falcon.monitor(X)`: what to expect of rows without labels, and whether to trust that."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from falcon_discover import DataWarning, FalconDiscover, InputError, datasets, load
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.monitoring.batch import BatchReport, of_finding
from falcon_discover.monitoring.replicates import Replicates
from falcon_discover.monitoring.statistics import BatchStatistics
from falcon_discover.runtime import notices

FIGURES = {
    "rows", "eligible", "errors", "errors_low", "errors_high", "rate", "promised", "alarm",
    "drift", "domain_auroc", "sentence", "classes", "regions",
}  # fmt: skip


@pytest.fixture(scope="module")
def falcon():
    rows = datasets.make_planted(1_200, shape="categorical", mass=0.1, random_state=0)
    return FalconDiscover(FrozenEstimator(rows.model), random_state=0).fit(rows.X, rows.y)


@pytest.fixture(scope="module")
def later():
    return datasets.make_planted(900, shape="categorical", mass=0.1, random_state=1)


@pytest.fixture(scope="module")
def report(falcon, later):
    return falcon.monitor(later.X)


def plain(report):
    return json.dumps(report.to_dict(), sort_keys=True)


def test_rows_like_those_audited_are_as_audited(report, later):
    sure = np.maximum(later.proba, 1 - later.proba) >= 0.9
    wrong = sure & ((later.proba >= 0.5) != later.y)
    assert report.alarm == "as_audited"
    assert report.eligible == sure.sum()
    assert report.errors_low <= wrong.sum() <= report.errors_high
    assert report.promised == pytest.approx(
        (1 - np.maximum(later.proba, 1 - later.proba))[sure].sum()
    )
    assert 0.4 < report.domain_auroc < 0.6


def test_the_estimate_is_the_sum_of_the_risks(falcon, later, report):
    risk = falcon.examine(later.X).risk()
    assert report.errors == pytest.approx(risk.sum(), abs=1e-6)
    assert report.rate == pytest.approx(report.errors / report.eligible)


def test_classes_and_regions_add_up_to_the_batch(report):
    for parts in (report.classes, report.regions):
        for name in ("rows", "eligible", "errors", "promised"):
            assert parts[name].sum() == pytest.approx(getattr(report, name), abs=1e-6)


def test_parts_in_any_order_say_the_same_to_the_last_bit(falcon, later, report):
    cuts = (slice(0, 1), slice(1, 500), slice(500, 900))
    parts = [BatchStatistics.of(falcon.audit_, falcon.new_rows(later.X[cut])) for cut in cuts]
    first, second, third = parts
    assert plain(BatchReport.of(third + (first + second), falcon.audit_)) == plain(report)
    sums = {str((a + b + c).sums.tolist()) for a, b, c in permutations(parts)}
    assert len(sums) == 1


def test_the_order_of_the_rows_does_not_matter(falcon, later, report):
    shuffled = later.X.sample(frac=1, random_state=0)
    assert plain(falcon.monitor(shuffled)) == plain(report)


@pytest.mark.parametrize("change", ["scaled", "swapped"])
def test_rows_like_none_that_were_audited_are_unlike(falcon, later, change):
    X = later.X.copy()
    if change == "scaled":
        X["height"] = X["height"] * 100
    else:
        X[["signal_a", "load"]] = X[["load", "height"]].to_numpy() * 5
    found = falcon.monitor(X)
    assert found.alarm == "unlike_audited"
    assert "do not rely on this estimate" in found.sentence
    changed = set(found.drift.loc[found.drift["changed"], "name"])
    assert {"scaled": {"height"}, "swapped": {"signal_a", "load"}}[change] <= changed
    assert "noise_0" not in changed


def test_riskier_rows_of_known_kinds_raise_the_other_alarm(falcon, later):
    found = falcon.monitor(later.X[later.X["colour"] == "red"])
    assert found.alarm == "more_errors_expected"
    assert found.errors > 1.1 * found.usual


def test_a_changed_labelling_rule_is_said_to_be_invisible(falcon, later, report):
    # Labels are not asked for, so a rule that changes them changes nothing here.
    for text in (report.sentence, repr(report), report._repr_html_()):
        assert "changed labelling rule cannot be seen without labels" in text


def test_every_way_to_read_it_has_the_same_names(report):
    told = report.to_dict()
    assert set(told) >= FIGURES
    assert json.loads(json.dumps(told)) == told
    assert told["errors"] == report.errors
    assert report.frame().loc[0, "errors"] == report.errors
    assert "<table" in report._repr_html_()
    assert "are expected to be wrong" in repr(report)


def test_its_charts_are_drawn(report):
    pytest.importorskip("matplotlib")
    assert report.plot.errors().get_xlabel() == "confident errors"
    assert "Changed since the audit" in report.plot.drift().get_title(loc="left")
    assert "errors, drift" in repr(report.plot)


def test_names_in_a_notebook_cannot_run(falcon, later, report):
    hostile = report.drift.assign(name="<script>")
    shown = BatchReport(**{**vars(report), "drift": hostile})._repr_html_()
    assert "<script>" not in shown


def test_a_batch_without_a_confident_prediction_has_no_errors(falcon, later):
    unsure = later.X[np.maximum(later.proba, 1 - later.proba) < 0.9]
    found = falcon.monitor(unsure)
    assert (found.eligible, found.errors, found.errors_high) == (0, 0.0, 0)
    assert "there are no confident errors" in found.sentence
    assert np.isnan(found.rate)
    assert found.compare(errors=0).held


def test_one_row_is_a_batch(falcon, later):
    found = falcon.monitor(later.X[:1])
    assert found.rows == 1
    assert found.alarm == "as_audited"
    assert np.isnan(found.domain_auroc)


def test_a_category_that_was_not_there_is_counted(falcon, later):
    X = later.X.copy()
    X["colour"] = "ultraviolet"
    found = falcon.monitor(X)
    line = found.drift.set_index("name").loc["colour"]
    assert line["distance"] == pytest.approx(1.0)
    assert found.alarm == "unlike_audited"


def test_a_higher_level_gives_a_wider_interval(falcon, later, report):
    wide = falcon.monitor(later.X, confidence_level=0.99)
    assert wide.errors == report.errors
    assert wide.errors_low < report.errors_low <= report.errors_high < wide.errors_high
    with pytest.raises(InputError, match="confidence_level is 95"):
        falcon.monitor(later.X[:5], confidence_level=95)


def test_labels_that_arrive_are_compared(report, later):
    found = report.compare(later.y)
    sure = np.maximum(later.proba, 1 - later.proba) >= 0.9
    assert found.observed == (sure & ((later.proba >= 0.5) != later.y)).sum()
    assert found.held
    assert not found.audit_again
    assert found.frame()["observed"].iloc[1:].sum() == found.observed
    assert json.loads(json.dumps(found.to_dict()))["watch"]["batches"] == 1
    again = report.compare(errors=found.observed, watch=found.watch)
    assert again.watch.batches == 2
    assert again.observed == found.observed
    assert "The estimate held" in repr(again)
    assert "<table" in found._repr_html_()


def test_some_labels_are_enough_to_compare(report, later):
    some = pd.Series(later.y).astype(float)
    some[np.arange(len(some)) % 2 == 0] = np.nan
    found = report.compare(some)
    assert found.labelled == 450
    assert found.expected < report.errors


def test_more_errors_than_estimated_end_in_a_new_audit(report):
    watch = None
    for _ in range(12):
        found = report.compare(errors=report.errors_high + 15, watch=watch)
        watch = found.watch
    assert not found.held
    assert found.audit_again
    assert "Audit again" in found.sentence


def test_what_cannot_be_compared_is_said(falcon, later, report):
    with pytest.raises(InputError, match="y has 3 labels, but the batch has 900 rows"):
        report.compare([0, 1, 0])
    with pytest.raises(InputError, match="the label 'maybe'"):
        report.compare(["maybe"] * 900)
    with pytest.raises(InputError, match="give compare the labels"):
        report.compare()
    with pytest.raises(InputError, match="not both"):
        report.compare([0] * 900, errors=3)
    with pytest.raises(InputError, match="errors is 9999"):
        report.compare(errors=9999)
    parts = BatchReport.of(
        BatchStatistics.of(falcon.audit_, falcon.new_rows(later.X[:50])), falcon.audit_
    )
    with pytest.raises(InputError, match="was read in parts"):
        parts.compare(later.y[:50])


def test_an_audit_saved_without_rows_says_what_is_missing(falcon, later, tmp_path):
    X = later.X[:200]
    with pytest.warns(DataWarning, match="not known to be safe"):
        path = falcon.save(tmp_path / "bare.falcon", reference="none")
    bare = load(path, trusted=["falcon_discover.datasets.planted.PlantedModel"])
    with pytest.raises(InputError, match="monitor compares with the rows of the fit"):
        bare.monitor(X)


def test_scores_without_a_model_are_monitored():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(700, 3)), columns=list("abc"))
    y = rng.choice(["x", "y", "z"], 700)
    proba = np.full((700, 3), 0.02)
    proba[np.arange(700), rng.integers(0, 3, 700)] = 0.96
    sure = rng.uniform(size=700) < 0.9
    y = np.where(sure, np.array(["x", "y", "z"])[proba.argmax(axis=1)], y)
    falcon = FalconDiscover("precomputed", ranker="gated_confidence", random_state=0)
    falcon.fit(X[:400], y[:400], proba=proba[:400])
    # The ranker of the audit estimates no risk: one that does is learned from its rows.
    found = falcon.monitor(X[400:], proba=proba[400:])
    wrong = int((np.array(["x", "y", "z"])[proba[400:].argmax(axis=1)] != y[400:]).sum())
    assert found.eligible == 300
    assert found.errors_low <= wrong <= found.errors_high
    assert list(found.classes["predicted"]) == ["x", "y", "z"]
    assert found.compare(y[400:]).observed == wrong
    with pytest.raises(InputError, match="pass the scores of these rows as proba"):
        falcon.monitor(X[400:])


def test_rows_that_were_examined_are_not_measured_again(falcon, later, report, monkeypatch):
    found = falcon.examine(later.X)
    monkeypatch.setattr(FittedAudit, "state", None)
    again = of_finding(found)
    assert (again.errors, again.errors_low, again.alarm) == (
        report.errors, report.errors_low, report.alarm,
    )  # fmt: skip
    with pytest.raises(InputError, match="rows of the fit"):
        of_finding(falcon.examine())


def test_groups_of_the_audit_widen_the_interval_and_weights_count():
    rng = np.random.default_rng(0)
    # Forty customers with ten rows each, of which one in five is wrong about all of them.
    customer = np.repeat(np.arange(40), 10)
    wrong = np.isin(customer, rng.permutation(40)[:8])
    proba = rng.uniform(0.91, 0.99, 400)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    y = (~wrong).astype(int)

    def audited(**drawn):
        falcon = FalconDiscover("precomputed", ranker="gated_confidence", random_state=0)
        return falcon.fit(X, y, proba=proba, **drawn).monitor(X + 0.1, proba=proba)

    with notices.collected():
        alone, together = audited(), audited(groups=customer)
        weighted = audited(sample_weight=np.where(wrong, 1.0, 3.0))
    assert together.errors_high - together.errors_low > 1.5 * (alone.errors_high - alone.errors_low)
    # The labels of all rows are judged by the same interval; capital moves less for one group more.
    later, apart = together.compare(1 - y), alone.compare(1 - y)
    assert (later.low, later.high) == (together.errors_low, together.errors_high)
    gain, gain_apart = later.watch.capital[3], apart.watch.capital[3]
    assert gain * together.design_effect == pytest.approx(gain_apart, rel=0.1)
    # 80 of the 400 rows are wrong; of 80 + 3 * 320 rows they stand for, 80.
    assert alone.audit_rate == pytest.approx(0.2)
    assert weighted.audit_rate == pytest.approx(80 / 1040)
    assert weighted.errors < alone.errors


def test_columns_that_are_new_in_every_batch_do_not_make_it_unlike():
    rng = np.random.default_rng(0)

    def rows(n, year):
        start = pd.Timestamp(year, 1, 1)
        return pd.DataFrame(
            {
                "a": rng.normal(size=n),
                "gap": np.nan,
                "flat": 1.0,
                "when": start + pd.to_timedelta(np.arange(n), "h"),
                "id": [f"{year}-{i}" for i in range(n)],
            },
            index=np.zeros(n, dtype=int),
        )

    with notices.collected():
        X, later = rows(200, 2024), rows(150, 2025)
        p = np.where(X["a"] > 0, 0.95, 0.05)
        y = np.where(rng.uniform(size=200) < p, "yes", "no")
        falcon = FalconDiscover("precomputed", ranker="gated_confidence", random_state=0)
        falcon.fit(X, y, proba=p)
        found = falcon.monitor(later, proba=np.where(later["a"] > 0, 0.95, 0.05))
    assert 0.35 < found.domain_auroc < 0.65
    assert found.novel_share < 0.1
    # What changed is still said.
    assert found.drift.set_index("name").loc["when", "distance"] > 0.95


def test_the_spread_of_versions_is_that_of_the_jackknife():
    sums = np.array([10.0, 12.0, 9.0, 13.0])
    # By hand: 3 / 4 * (1 + 1 + 4 + 4).
    assert Replicates().spread(sums) == pytest.approx(np.sqrt(7.5))
    assert Replicates().spread([]) == 0.0
