"""Every method of an audit, of every kind: an answer, or an `InputError` where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from falcon_discover import InputError
from support.every_audit import (
    KINDS,
    NEED_A_MODEL,
    OF_A_FALCON,
    WORLDS,
    audit,
    rows_of,
    scores_of,
)

pytestmark = pytest.mark.usefixtures("figures_are_closed")


@pytest.mark.filterwarnings("ignore::falcon_discover.DataWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world", WORLDS)
def test_every_method_of_an_audit(world, kind, folder, tmp_path):
    falcon = audit(world, kind, folder)
    new = rows_of(world, seed=1, n=60)
    given = scores_of(falcon, new)
    for name, call in OF_A_FALCON.items():
        try:
            call(falcon, new, tmp_path, given)
        except InputError:
            may = kind == "loaded none" or (given and name in NEED_A_MODEL)
            if not may and world == "events":
                raise AssertionError(f"{name} was refused") from None
    p = falcon.predict_proba(new.X, **given)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(falcon.predict(new.X, **given), falcon.classes_[p.argmax(axis=1)])
