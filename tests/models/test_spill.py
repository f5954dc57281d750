"""Large models wait on disk and come back as they were."""

from __future__ import annotations

import joblib
import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

from falcon_discover import FalconDiscover, datasets
from falcon_discover.models import spill
from falcon_discover.models.spill import SpillingList

PLANTED = datasets.make_planted(300, random_state=0)
X, Y = PLANTED.X[["signal_a", "signal_b", "load"]].fillna(0), PLANTED.y


def test_large_forests_are_on_disk_and_the_rest_in_memory(monkeypatch):
    monkeypatch.setattr(spill, "LARGE_NODES", 100)
    forests = [ExtraTreesClassifier(5, random_state=i).fit(X, Y) for i in range(2)]
    small = HistGradientBoostingClassifier(max_iter=5).fit(X, Y)
    held = SpillingList()
    for model in (forests[0], small, forests[1]):
        held.append(model)
    folder = held._folder
    first, second, third = held
    assert second is small
    for before, after in zip(forests, (first, third), strict=True):
        assert after is not before
        np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    # Asked again, they are there again; gone with the spill.
    assert len(list(held)) == 3
    assert folder.exists()
    del held
    assert not folder.exists()


def test_without_room_on_the_disk_they_stay_in_memory(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill, "LARGE_NODES", 100)
    monkeypatch.setattr(joblib, "dump", full)
    forest = ExtraTreesClassifier(5, random_state=0).fit(X, Y)
    held = SpillingList()
    held.append(forest)
    assert list(held) == [forest]


def test_an_audit_is_the_same_from_disk(monkeypatch):
    falcon = FalconDiscover("extra_trees", cv=2, random_state=0).fit(PLANTED.X, PLANTED.y)
    monkeypatch.setattr(spill, "LARGE_NODES", 100)
    again = FalconDiscover("extra_trees", cv=2, random_state=0).fit(PLANTED.X, PLANTED.y)
    np.testing.assert_array_equal(again.score_samples(), falcon.score_samples())
