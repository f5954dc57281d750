"""The model of evidence: what it may and may not learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from falcon_discover.rankers.evidence import EvidenceModel, Sample
from falcon_discover.signals.state import State


def test_a_class_is_never_less_likely_for_a_higher_score_of_the_model():
    # Labels are the opposite of what the model says, and as a second opinion says.
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 400)
    codes = (rng.uniform(size=400) > p).astype(np.int8)
    said = np.where(p > 0.5, 1.0, -1.0) * (2.0 * codes - 1.0 + rng.normal(size=400))
    opinion = pd.DataFrame({"opinion_forest": said})
    state = replace(State.from_scores(p), evidence=opinion)
    model = EvidenceModel("positive").fit(Sample.of_classes(state, codes, None))
    higher = State.from_scores(np.linspace(0.51, 0.98, 30))
    higher = replace(higher, evidence=pd.DataFrame({"opinion_forest": np.zeros(30)}))
    odds = model.log_odds(higher)
    assert (np.diff(odds) >= 0).all()
    # It did learn, from the other opinion.
    agreed = replace(higher, evidence=pd.DataFrame({"opinion_forest": np.full(30, 2.0)}))
    assert (model.log_odds(agreed) > odds + 1).all()
