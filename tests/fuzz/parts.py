"""The doors of the package that generated inputs go through, the cheap ones most often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Part:
    """One door.

    Attributes
    ----------
    what : what is generated, in the words of the table
    strategy : one case
    tried : what came of a case; raises where that may not be
    cases : how many of 200,000
    batch : how many cases are drawn at once
    """

    what: str
    strategy: st.SearchStrategy[Any]
    tried: Callable[[Any], str]
    cases: int
    batch: int = 1
