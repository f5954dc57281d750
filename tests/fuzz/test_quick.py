"""The quick part of the campaign, and that it would notice what it looks for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from falcon_discover import InputError
from fuzz import agreement, audits, damage, doors, files, marks
from fuzz.campaign import chunk
from fuzz.outcome import WrongError, outcome
from fuzz.parts import Part
from strategies import PROFILES

pytestmark = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
# The doors that answer within milliseconds; whole audits take part with a few cases each.
CHEAP = (*doors.PARTS, *files.PARTS[:1], *marks.PARTS)


@pytest.mark.parametrize("part", CHEAP, ids=lambda part: part.what)
def test_any_input_is_answered_or_refused(part):
    found = chunk(part, PROFILES["quick"], number=10_000)
    assert not found.faults, found.examples
    assert found.came["answered"] > 0
    assert found.came["refused"] > 0


@pytest.mark.parametrize("part", audits.PARTS, ids=lambda part: part.what)
def test_any_audit_is_answered_or_refused(part):
    found = chunk(part, 6, number=10_000)
    assert not found.faults, found.examples


@pytest.mark.parametrize("kind", damage.DAMAGE)
def test_damaged_audits_are_refused_or_the_same(kind):
    for number in range(3):
        saved = list(damage.audits().values())[number]
        rng = np.random.default_rng(number)
        content = damage.DAMAGE[kind](saved.content, rng)
        damage.loaded(content, saved, forged=kind in damage.FORGED)


@pytest.mark.parametrize(
    "relation",
    [r for r in agreement.RELATIONS if r.share > 1 or r.holds is agreement.rows_turned],
    ids=lambda relation: relation.what,
)
def test_answers_agree(relation):
    rng = np.random.default_rng(0)
    relation.holds(agreement.Rows.drawn(rng), "gated_confidence", rng)


def raising(error):
    def call(case):
        def inside():
            raise error

        return outcome(inside)

    return call


@pytest.mark.parametrize(
    "tried",
    [raising(KeyError("a")), raising(InputError("")), raising(InputError("x object at 0x7f"))],
    ids=["foreign", "no sentence", "no words"],
)
def test_what_is_no_answer_is_noticed(tried):
    found = chunk(Part("anything", st.integers(), tried, 1), 3, number=0)
    assert sum(found.faults.values()) == found.came["cases"] == 3


def test_a_change_of_the_callers_data_is_noticed():
    given = np.zeros(3)
    with pytest.raises(WrongError, match="data changed"):
        outcome(lambda: given.__setitem__(0, 1.0), given)


def test_an_audit_with_other_scores_is_noticed():
    one, other = list(damage.audits().values())[:2]
    with pytest.raises(WrongError, match="other scores"):
        damage.loaded(other.content, one, forged=False)


def test_answers_that_differ_are_noticed():
    with pytest.raises(WrongError):
        agreement.exactly([1.0], [1.0 + 1e-15], "suspicion")
    with pytest.raises(WrongError):
        agreement.closely([1.0], [1.0 + 1e-6], "suspicion")
