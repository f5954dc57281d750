"""Terms are explained once in a section, and only where they mean what the glossary says."""

from __future__ import annotations

from falcon_discover.report.terms import Terms


def test_a_term_is_explained_once_until_told_to_start_anew():
    terms = Terms()
    assert str(terms("risk and Risk")).count("<abbr") == 1
    assert "<abbr" not in terms("risk")
    terms.anew()
    assert "<abbr" in terms("risks")


def test_the_longest_term_wins():
    assert ">confident errors</abbr>" in Terms()("confident errors")


def test_the_confidence_of_a_statement_is_not_that_of_a_model():
    assert "<abbr" not in Terms()("with 95% confidence")
    assert "<abbr" in Terms()("its confidence")


def test_markup_in_a_text_stays_text():
    assert "<img" not in Terms()("<img src=x> risk")
