from __future__ import annotations

import pytest

from falcon_discover import PAPER
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Study
from falcon_discover.bench.store import RunKey, Store
from support.small_study import NAMES, write_run


@pytest.fixture(scope="session")
def study(tmp_path_factory) -> Study:
    store = Store(tmp_path_factory.mktemp("store"), plan.settings())
    for name in NAMES:
        for seed in PAPER.seeds:
            for backbone in plan.BACKBONES:
                best = backbone == ("catboost" if name == "adult" else "xgboost")
                write_run(store, RunKey(name, seed, backbone), auroc=0.9 if best else 0.8)
    return Study(store)
