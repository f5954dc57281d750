"""Files that once were hard to read: each is taken, or refused with a sentence, for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.targets import TARGETS, tried

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_of_the_corpus_is_taken_or_refused(path):
    tried(path.parent.name, path.read_bytes())


def test_every_target_has_a_file_that_is_taken_and_one_that_is_refused():
    assert {path.parent.name for path in FILES} == set(TARGETS)
    assert tried("csv", (CORPUS / "csv" / "plain.csv").read_bytes())
    assert not tried("csv", (CORPUS / "csv" / "long-row.csv").read_bytes())
    assert tried("marks", (CORPUS / "marks" / "plain.csv").read_bytes())
    assert not tried("marks", (CORPUS / "marks" / "strange.csv").read_bytes())
