"""What tests of refusals share: a small audit, and the error whose sentence names the fault."""

from __future__ import annotations

import pytest

from falcon_discover import FalconDiscover, InputError

quiet = pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")


def falcon(**parameters) -> FalconDiscover:
    return FalconDiscover("logistic_regression", random_state=0, **parameters)


def refused(sentence: str):
    return pytest.raises(InputError, match=sentence)
