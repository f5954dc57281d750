"""States with labels as frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.rankers.training import LabelledState
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.apart import Apart
from falcon_discover.signals.state import State

SIGNAL, EVIDENCE, APART, CLASS = "signal:", "evidence:", "apart:", "p:"


def frame(rows: LabelledState, kept: IntArray) -> pd.DataFrame:
    """Return the given rows of a labelled state as one frame."""
    state = rows.state.take(kept)
    joined = pd.concat(
        [state.signals.add_prefix(SIGNAL), state.evidence.add_prefix(EVIDENCE)], axis=1
    ).assign(**_scores(state.p), label=rows.codes[kept])
    if state.apart is not None:
        joined = pd.concat([joined, state.apart.frame(APART)], axis=1)
    return joined if state.fold is None else joined.assign(fold=state.fold)


def _scores(p: FloatArray) -> dict[str, FloatArray]:
    """Return the positive-class score as one column, or one for each of more than two classes."""
    return {"p": p} if p.ndim == 1 else {f"{CLASS}{code}": p[:, code] for code in range(p.shape[1])}


def labelled(frame: pd.DataFrame, features: Any, n_classes: int, threshold: float) -> LabelledState:
    """Return the labelled state that such a frame holds."""

    def columns(prefix: str) -> pd.DataFrame:
        chosen = [name for name in frame.columns if name.startswith(prefix)]
        return frame[chosen].rename(columns=lambda name: name.removeprefix(prefix)).copy()

    frame = frame.reset_index(drop=True)
    fold = frame["fold"].to_numpy(copy=True) if "fold" in frame else None
    scores = ["p"] if n_classes == 2 else [f"{CLASS}{code}" for code in range(n_classes)]
    p = frame[scores].to_numpy(copy=True)
    p = p[:, 0] if n_classes == 2 else p
    apart = Apart.from_frame(columns(APART))
    state = State(p, columns(SIGNAL), columns(EVIDENCE), fold, features, apart, threshold)
    return LabelledState(state, frame["label"].to_numpy(np.int8, copy=True))
