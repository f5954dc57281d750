"""States with labels as frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import IntArray
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.state import State

SIGNAL, EVIDENCE, APART = "signal:", "evidence:", "apart:"


def frame(rows: LabelledState, kept: IntArray) -> pd.DataFrame:
    """Return the given rows of a labelled state as one frame."""
    state = rows.state.take(kept)
    joined = pd.concat(
        [state.signals.add_prefix(SIGNAL), state.evidence.add_prefix(EVIDENCE)], axis=1
    ).assign(p=state.p, label=rows.codes[kept])
    if state.apart is not None:
        joined = pd.concat([joined, state.apart.frame(APART)], axis=1)
    marks = {"fold": state.fold, "group": state.group, "weight": state.weight}
    return joined.assign(**{name: mark for name, mark in marks.items() if mark is not None})


def labelled(frame: pd.DataFrame, features: Any) -> LabelledState:
    """Return the labelled state that such a frame holds."""

    def columns(prefix: str) -> pd.DataFrame:
        chosen = [name for name in frame.columns if name.startswith(prefix)]
        return frame[chosen].rename(columns=lambda name: name.removeprefix(prefix)).copy()

    frame = frame.reset_index(drop=True)
    fold, group, weight = (
        frame[name].to_numpy(copy=True) if name in frame else None
        for name in ("fold", "group", "weight")
    )
    p = frame["p"].to_numpy(copy=True)
    apart = Apart.from_frame(columns(APART))
    state = State(
        p, columns(SIGNAL), columns(EVIDENCE), fold, features, apart, group=group, weight=weight
    )
    return LabelledState(state, frame["label"].to_numpy(np.int8, copy=True))
