"""The glossary: short, complete sentences, in the order of a dictionary."""

from __future__ import annotations

import pytest

from falcon_discover.runtime.glossary import GLOSSARY, meaning


@pytest.mark.parametrize("term", GLOSSARY)
def test_each_term_has_one_short_sentence(term):
    words = meaning(term)
    assert words == " ".join(words.split())
    assert words[0].isupper() or words[0].isdigit()
    assert words.endswith(".")
    assert ". " not in words
    assert len(words) <= 180


def test_a_term_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        meaning("regime")
