"""The public audits that reports compare with are those of the committed results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from falcon_discover.evaluation.public_audits import PUBLIC_AUDITS

RESULTS = Path(__file__).parents[2] / "results" / "beyond" / "risk_in_the_large.csv"


def test_the_counts_are_those_of_the_committed_results():
    if not RESULTS.is_file():
        pytest.skip("the committed results are not part of this distribution")
    found = pd.read_csv(RESULTS, index_col="dataset").drop(index="all")
    assert {name: tuple(audit) for name, audit in PUBLIC_AUDITS.items()} == {
        name: (line["rows"], line["observed"]) for name, line in found.iterrows()
    }
