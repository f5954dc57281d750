"""The signal catalogue: every record is measured, shown and documented, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from falcon_discover import FalconDiscover, datasets, discover
from falcon_discover.audit.curves import Curves
from falcon_discover.models import library
from falcon_discover.rankers.inputs import RESCALED, signal_columns
from falcon_discover.report.rows import page_rows
from falcon_discover.signals.catalogue import (
    BY_NAME,
    CATALOGUE,
    FAMILIES,
    INPUTS,
    OPINIONS,
    SIGNALS,
)

DOCS = Path(__file__).parents[2] / "docs"
# What is shown under another name: both are known from what is beside them.
SHOWN_WITH = {"margin": "confidence", "neighbours": "labelled_as_predicted"}


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(900, random_state=0)


@pytest.fixture(scope="module")
def falcon(planted):
    """An audit with everything switched on: a model to be mixed, and second opinions."""
    X = planted.X.select_dtypes("number").fillna(0)
    falcon = FalconDiscover(LogisticRegression(), tau=0.7, random_state=0)
    return falcon.fit(X[:600], planted.y[:600])


@pytest.fixture(scope="module")
def found(falcon, planted):
    X = planted.X.select_dtypes("number").fillna(0)
    return falcon.examine(X[600:], planted.y[600:])


def columns(state):
    return [*state.signals.columns, *state.evidence.columns]


def test_every_record_is_measured_and_nothing_else(falcon, found):
    for state in (falcon.examine().state, found.state):
        assert sorted(columns(state)) == sorted(BY_NAME)
        assert list(state.signals.columns) == list(SIGNALS)
        assert all(np.isfinite(state.column(name)).all() for name in BY_NAME)
        assert state.column("no such signal") is None


def test_without_a_model_only_what_needs_one_is_missing(planted):
    state = discover(planted.X, planted.y, planted.proba, random_state=0).state
    assert set(BY_NAME) - set(columns(state)) == {s.name for s in CATALOGUE if s.needs_model}


def test_every_record_is_shown(found):
    rows = {signal["label"] for signal in page_rows(found, found.review(0.1))["signals"]}
    assert rows == {signal.label for signal in CATALOGUE if signal.label}
    chart = Curves(found).signals()
    assert set(chart["meaning"]) == {signal.doubt for signal in INPUTS}
    assert {s.input: s.family for s in INPUTS} == dict(
        zip(chart["signal"], chart["family"], strict=True)
    )
    shown = {signal.name for signal in CATALOGUE if signal.label in rows or signal.doubt}
    assert set(BY_NAME) - shown == set(SHOWN_WITH)
    assert set(SHOWN_WITH.values()) <= shown


def test_every_input_counts_for_its_family(found):
    everything = signal_columns(found.state)
    assert set(everything) == {"decision", *(signal.input for signal in INPUTS)}
    for family in FAMILIES:
        lost = set(everything) - set(signal_columns(found.state, {family}))
        assert lost - {"decision"} == {s.input for s in INPUTS if s.family == family}


def test_inputs_rise_with_what_the_record_calls_suspicious(found):
    inputs = signal_columns(found.state)
    for signal in INPUTS:
        order = rankdata((signal.sign * found.state.column(signal.name)).round(9))
        assert np.array_equal(rankdata(inputs[signal.input].round(9)), order), signal.name


def test_every_record_is_documented():
    page = (DOCS / "concepts.md").read_text()
    for signal in CATALOGUE:
        assert f"| `{signal.name}` | {signal.sentence} | {signal.unit} |" in page
        # A reader meets it as a part of a sentence: no capital, no full stop.
        assert signal.sentence[0].islower()
        assert not signal.sentence.endswith(".")


def test_records_name_what_there_is():
    assert len(BY_NAME) == len(CATALOGUE)
    assert {signal.family for signal in CATALOGUE} == set(FAMILIES) - {"features"}
    assert {signal.rescaled for signal in CATALOGUE} - {None} == set(RESCALED)
    assert set(OPINIONS) == set(library.OPINIONS)
    assert all(signal.doubt for signal in CATALOGUE if signal.rescaled or signal.recalibrates)
