"""Every method of a finding, on every kind of audit: the right answer or an `InputError`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from falcon_discover import FalconDiscover, Finding, InputError
from falcon_discover.metrics import review_size
from falcon_discover.plots.accessor import FIGURES
from falcon_discover.runtime.display import Result
from falcon_discover.signals.catalogue import SIGNALS
from support.every_audit import (
    FIT_ROWS,
    KINDS,
    METHODS,
    NEED_A_MODEL,
    OF_A_FALCON,
    TAU,
    WORLDS,
    audit,
    rows_of,
    scores_of,
)

pytestmark = pytest.mark.usefixtures("figures_are_closed")

ROWS = ("fit", "labelled", "unlabelled")


def finding_of(asked: FalconDiscover, world: str, which: str) -> Finding:
    new = rows_of(world, seed=1, n=60)
    if which == "fit":
        return asked.examine()
    return asked.examine(new.X, new.y if which == "labelled" else None, **scores_of(asked, new))


def right_review(found: Finding, list_: pd.DataFrame, budget: float) -> None:
    assert len(list_) == review_size(len(found.state), budget)
    assert list_["row"].is_unique
    assert list_["suspicion"].is_monotonic_decreasing
    confidence = np.maximum(found.state.p, 1 - found.state.p)
    np.testing.assert_array_equal(list_["confidence"], confidence[list_["row"]])
    assert list_["reason"].str.len().min() > 0


def events_of(found: Finding) -> np.ndarray:
    """Confident errors, counted by hand."""
    assert found.codes is not None
    return ((found.state.p >= 0.5) != found.codes) & (
        np.maximum(found.state.p, 1 - found.state.p) >= TAU
    )


def costs_of(found: Finding) -> np.ndarray:
    return np.arange(len(found.state), dtype=float)


def right_costs(found: Finding, list_: pd.DataFrame) -> None:
    np.testing.assert_array_equal(list_["cost"], costs_of(found)[list_["row"]])
    if found.risk() is not None:
        assert list_["expected_cost"].is_monotonic_decreasing


def right_periods(found: Finding, periods: Any) -> None:
    assert periods.frame()["events"].sum() == events_of(found).sum()
    assert periods.frame()["rows"].sum() == len(found.state)


def right_evaluation(found: Finding, evaluation: Any) -> None:
    own = evaluation.captures.query("tau == @TAU")
    assert (own["events"] == events_of(found).sum()).all()
    assert (own["captured"] <= own["events"]).all()
    assert evaluation.verdict() in repr(evaluation)
    sides = evaluation.sides.frame()
    assert sides["events"].sum() == events_of(found).sum()
    assert sides["rows"].sum() == len(found.state)
    assert evaluation.sides.text() in repr(evaluation)


def right_missed(found: Finding, bound: Any) -> None:
    assert bound.missed <= events_of(found).sum()
    assert bound.rate <= bound.upper <= 1


def right_batch(found: Finding, bound: Any) -> None:
    assert bound.missed <= events_of(found).sum()
    assert 0 <= bound.batch_missed <= bound.batch_unreviewed == 45


def right_content(found: Finding, content: Any) -> None:
    one_number_per_row(found, content.ties)
    # All rows differ.
    assert content.twins == 0
    assert content.distinct == len(found.state)


def right_budget(found: Finding, budget: Any) -> None:
    assert 0 <= budget.budget <= 1
    if not events_of(found).any() and not budget.all_eligible:
        assert budget.tested["missed"].eq(0).all()


def right_report(found: Finding, page: Any) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "nan" not in (page.parent / "report.md").read_text(encoding="utf-8").split()


def one_number_per_row(found: Finding, values: Any) -> None:
    assert len(values) == len(found.state)
    assert np.isfinite(values).all()


def one_signal_row_per_row(found: Finding, frame: pd.DataFrame) -> None:
    assert frame.shape == (len(found.state), len(SIGNALS))
    confidence = np.maximum(found.state.p, 1 - found.state.p)
    np.testing.assert_array_equal(frame["confidence"], confidence)


def right_interval(found: Finding, ends: Any) -> None:
    if ends is not None:
        low, high = ends
        one_number_per_row(found, low)
        assert ((low <= found.risk()) & (found.risk() <= high)).all()


def right_risk(found: Finding, risk: Any) -> None:
    if risk is not None:
        one_number_per_row(found, risk)
        assert ((risk >= 0) & (risk <= 1)).all()


def right_words(found: Finding, words: str) -> None:
    assert len(words) > 20


def right_alerts(alerts: tuple[str, ...]) -> None:
    # These rows are honest: nobody has seen them before.
    assert alerts == ()


def right_notice(found: Finding, notice: str) -> None:
    # Both classes are called confidently here, or neither is.
    assert notice == ""


def right_axes(axes: Any) -> None:
    assert axes.has_data()
    assert axes.get_xlabel() or axes.get_ylabel()


def right_regions(found: Finding, frame: pd.DataFrame) -> None:
    assert len(frame) == len(found.regions.unexpected) + len(found.regions.expected)


def right_confirmed(found: Finding, rules: Any) -> None:
    assert all(rule.confirmed for rule in rules)


def right_listed(found: Finding, rules: list[Any]) -> None:
    assert tuple(rules) == found.regions.unexpected
    assert len(found.regions) == len(rules)


def right_clusters(found: Finding, frame: pd.DataFrame) -> None:
    # They describe the rows of the fit, all of them, until labelled rows take their place.
    assert frame["rows"].sum() in (0, FIT_ROWS, len(found.state))


def right_calibrator(found: Finding, calibrator: Any) -> None:
    assert callable(calibrator.predict)


def right_compared(found: Finding, names: Any) -> None:
    assert "gated_confidence" in names


def right_conflict(found: Finding, conflict: Any) -> None:
    assert conflict.regime in ("strong", "mixed", "boundary")


def right_contributions(found: Finding, contributions: Any) -> None:
    assert len(repr(contributions)) > 20


def right_events(found: Finding, events: Any) -> None:
    np.testing.assert_array_equal(events, events_of(found))


def right_classes(classes: Any) -> None:
    assert len(set(classes)) == 2


def right_tau(tau: float) -> None:
    assert tau == TAU


def right_finding(found: Finding, same: Finding) -> None:
    assert same is found


def right_doubts(found: Finding, doubts: pd.DataFrame) -> None:
    assert sorted(doubts["row"]) == np.flatnonzero(events_of(found)).tolist()
    assert doubts["label_doubt"].between(0, 1).all()


def right_noise(found: Finding, noise: Any) -> None:
    assert noise.errors == events_of(found).sum()
    assert noise.low <= noise.expected <= noise.high <= max(noise.errors, 1)


# By name: the call, and what must hold of its answer.
Check = tuple[Callable[[Any, Any], Any], Callable[[Finding, Any], None]]
OF_A_FINDING: dict[str, Check] = {
    "frame": (lambda f, _: f.frame(), one_signal_row_per_row),
    "suspicion": (lambda f, _: f.suspicion(), one_number_per_row),
    "score": (lambda f, _: f.score("gated_confidence", TAU), one_number_per_row),
    "review": (lambda f, _: f.review(0.1), lambda f, r: right_review(f, r, 0.1)),
    "risk": (lambda f, _: f.risk(), right_risk),
    "priority": (lambda f, _: f.priority(), one_number_per_row),
    "costing": (lambda f, _: f.costing(costs_of(f)).review(5), right_costs),
    "evaluate with costs": (lambda f, _: f.evaluate(cost=costs_of(f)), right_evaluation),
    "by_period": (lambda f, _: f.by_period(np.arange(len(f.state)) // 50), right_periods),
    "places": (lambda f, _: f.places, one_number_per_row),
    "risk_interval": (lambda f, _: f.risk_interval(), right_interval),
    "evaluate": (lambda f, _: f.evaluate(), right_evaluation),
    "compared": (lambda f, _: f.compared(), right_compared),
    "review_budget": (lambda f, _: f.review_budget(0.05), right_budget),
    "missed_bound": (lambda f, _: f.missed_bound(0.1), right_missed),
    "review_budget of a batch": (lambda f, _: f.review_budget(0.05, batch=50), right_budget),
    "missed_bound of a batch": (lambda f, _: f.missed_bound(0.1, batch=50), right_batch),
    "missed_bound of all": (lambda f, _: f.missed_bound(0.1, simultaneous=True), right_missed),
    "ties": (lambda f, _: f.ties, one_number_per_row),
    "content": (lambda f, _: f.content, right_content),
    "conflict": (lambda f, _: f.conflict(), right_conflict),
    "calibration_weights": (lambda f, _: f.calibration_weights(), one_number_per_row),
    "report": (lambda f, folder: f.report(folder / "report", contributions=False), right_report),
    "contributions": (lambda f, _: f.contributions(), right_contributions),
    "label_doubt": (lambda f, _: f.label_doubt(), right_doubts),
    "label_noise": (lambda f, _: f.label_noise(), right_noise),
    "__repr__": (lambda f, _: repr(f), right_words),
    **{
        f"calibrator {method}": (
            lambda f, _, method=method: f.calibrator(method),
            right_calibrator,
        )
        for method in METHODS
    },
    "calibrator weighted": (lambda f, _: f.calibrator("platt", weighted=True), right_calibrator),
    **{
        f"plot {name}": (
            lambda f, _, name=name: getattr(f.plot, name)(),
            lambda f, axes: right_axes(axes),
        )
        for name in FIGURES
    },
    "regions frame": (lambda f, _: f.regions.frame(), right_regions),
    "regions words": (lambda f, _: repr(f.regions), right_words),
    "regions confirmed": (lambda f, _: f.regions.confirmed, right_confirmed),
    "regions listed": (lambda f, _: list(f.regions), right_listed),
    "alerts": (lambda f, _: f.alerts, lambda f, alerts: right_alerts(alerts)),
    "one_sided": (lambda f, _: f.one_sided, right_notice),
    "clusters": (lambda f, _: f.regions.clusters.frame(), right_clusters),
    "events": (lambda f, _: f.events, right_events),
    "labels": (lambda f, _: f.labels, one_number_per_row),
    "index": (lambda f, _: f.index, one_number_per_row),
    "classes": (lambda f, _: f.classes, lambda f, classes: right_classes(classes)),
    "tau": (lambda f, _: f.tau, lambda f, tau: right_tau(tau)),
    "warned": (lambda f, _: f.warned(), right_finding),
}
NEED_LABELS = {
    "evaluate",
    "evaluate with costs",
    "by_period",
    "review_budget",
    "missed_bound",
    "review_budget of a batch",
    "missed_bound of a batch",
    "missed_bound of all",
    "content",
    "events",
    "labels",
    "conflict",
    "calibration_weights",
    "label_doubt",
    "label_noise",
    *(f"plot {n}" for n in ("capture", "guarantee", "reliability", "conflict", "signals")),
    "plot calibration",
}
# They refit the ranker on the rows of the fit, whichever rows are examined: once is enough.
OF_THE_FIT = {"contributions", "plot contributions"}
# What an audit without reference rows cannot know; the rest must work on new rows.
NEED_REFERENCE_ROWS = {
    "label_doubt",
    "label_noise",
    "conflict",
    "calibration_weights",
    "contributions",
    "plot conflict",
    "plot contributions",
    "plot calibration",
    *(f"calibrator {method}" for method in (*METHODS, "weighted")),
}


def may_refuse(name: str, world: str, kind: str, which: str) -> bool:
    """Whether the question has no answer here, so that a sentence must say why."""
    if which == "unlabelled" and name in NEED_LABELS:
        return True
    if kind.endswith("predictions") and name in NEED_A_MODEL:
        return True
    if kind == "loaded none" and name in NEED_REFERENCE_ROWS:
        return True
    # Without an event there is nothing to map, to weigh or to compare.
    return world != "events" and name.startswith(("plot", "conflict", "calibrator", "contrib"))


def asked_of(name: str, subject: Any, found: Finding, check: Check, folder: Any) -> bool:
    """Return whether there was an answer; anything but an answer or an `InputError` fails."""
    call, right = check
    try:
        answer = call(subject, folder)
    except InputError as error:
        words = str(error)
        assert len(words.split()) >= 4, f"{name} says too little: {words}"
        return False
    right(found, answer)
    return True


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("which", ROWS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world", WORLDS)
def test_every_method_of_a_finding(world, kind, which, folder, tmp_path):
    if kind == "loaded none" and which == "fit":
        with pytest.raises(InputError, match="left out when this audit was saved"):
            finding_of(audit(world, kind, folder), world, which)
        return
    found = finding_of(audit(world, kind, folder), world, which)
    for name, check in OF_A_FINDING.items():
        if name in OF_THE_FIT and which != "fit":
            continue
        answered = asked_of(name, found, found, check, tmp_path)
        expected = not may_refuse(name, world, kind, which)
        assert answered or not expected, f"{name} was refused: {world}, {kind}, {which}"


def public(cls: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


def test_no_public_method_is_forgotten():
    scikit_learn = public(type("Plain", (ClassifierMixin, TransformerMixin, BaseEstimator), {}))
    known = {*OF_A_FALCON, "fit", "threshold_", "with_audit", "discovery_"}
    known |= {name for name in public(FalconDiscover) if name.startswith("set_")}
    assert public(FalconDiscover) - scikit_learn - known == set()
    walked = {name.split()[0] for name in OF_A_FINDING}
    fields = set(Finding.__dataclass_fields__)
    # What every result can do is tested in test_results.py.
    assert public(Finding) - walked - fields - public(Result) - {"NEXT"} == set()
