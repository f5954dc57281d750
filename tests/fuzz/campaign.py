"""Cases of a part in chunks, each with a seed of its own, and what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, seed, settings

from fuzz.outcome import Hang, place
from fuzz.parts import Part

CHUNK = 500
# Of doors that answer within a millisecond.
LARGE_CHUNK = 5_000


@dataclass
class Tally:
    """What came of some cases; of each kind of fault the first case."""

    came: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, part: Part, case: Any) -> None:
        self.came["cases"] += 1
        try:
            self.came[part.tried(case)] += 1
        except (Exception, Hang) as error:
            fault = place(error)
            self.faults[fault] += 1
            if fault not in self.examples:
                self.examples[fault] = shown(case)


def shown(case: Any) -> str:
    """Return a case as text, in so far as it can be shown."""
    try:
        return repr(case)[:600].encode(errors="backslashreplace").decode()
    except Exception as error:
        return f"a case that cannot be shown: {error}"


def chunk(part: Part, cases: int, number: int) -> Tally:
    """Return what came of a chunk; the same number gives the same cases."""
    tally = Tally()
    began = time.process_time()

    @seed(number)
    @settings(settings.get_profile("quick"), max_examples=max(1, cases // part.batch))
    @given(part.strategy)
    def each(drawn: Any) -> None:
        for case in drawn if part.batch > 1 else [drawn]:
            tally.add(part, case)

    each()
    tally.seconds = time.process_time() - began
    return tally


def chunks(part: Part, cases: int) -> Iterator[tuple[int, int]]:
    """Return the number of each chunk, and its cases."""
    size = CHUNK if part.batch == 1 else LARGE_CHUNK
    for number, first in enumerate(range(0, cases, size)):
        yield number, min(size, cases - first)
