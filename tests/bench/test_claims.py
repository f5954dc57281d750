"""The simulations of `make statistics` run: a draw or two of each area, so that none goes stale."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)

AREAS = sorted(
    path.stem
    for path in (ROOT / "benchmarks" / "claims").glob("*.py")
    if "\nAREA = " in path.read_text()
)


@pytest.mark.parametrize("area", AREAS)
def test_an_area_of_claims_can_be_measured(area, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    # Draws stay in this process.
    monkeypatch.setattr(import_module("benchmarks.claims.common"), "WORKERS", 1)
    lines = list(import_module(f"benchmarks.claims.{area}").measure(0.004))
    assert lines
    for line in lines:
        assert line.area == area
        assert math.isfinite(line.value)
        assert line.draws >= 1
        assert line.low <= line.value <= line.high
