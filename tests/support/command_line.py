"""The command line as tests call it, and the table that they audit with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from falcon_discover import datasets
from falcon_discover.cli import app

N = 240
PROBA = ("--target", "outcome", "--proba", "score")
TRAINED = ("--target", "outcome", "--backbone", "logistic_regression", "--leave-out", "score")


def run(*words: object, code: int = 0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output + result.stderr
    return result


def refused(*words: object) -> str:
    """Return the one sentence that a call ends with."""
    sentence = run(*words, code=1).stderr
    assert sentence.startswith("error: ")
    assert sentence.count("\n") == 1
    return sentence.removeprefix("error: ").rstrip("\n")


def made_up() -> pd.DataFrame:
    planted = datasets.make_planted(N, random_state=0)
    return planted.X.assign(outcome=np.where(planted.y, "yes", "no"), score=planted.proba)
