"""Who is reviewed first, and what that says where scores are equal.

A figure must not depend on how a file is sorted. So a count of what the first rows hold is its
expected value over a random order within each block of rows that the ranking does not tell apart.
Where rows are listed or cut, a hash of each row's content, mixed with the seed, decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from falcon_discover.runtime.types import BoolArray, FloatArray, IntArray, UInt64Array

# Splitmix64's step from one state to the next.
STEP = 0x9E3779B97F4A7C15


def scramble(values: UInt64Array) -> UInt64Array:
    """Return the splitmix64 finaliser of each value: close inputs, unrelated outputs."""
    z = values + np.uint64(STEP)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def tie_keys(hashes: UInt64Array, seed: int) -> UInt64Array:
    """Return what orders rows of equal score: their content, in an order that the seed draws.

    Examples
    --------
    >>> hashes = np.array([7, 9], dtype=np.uint64)
    >>> [tie_keys(hashes, seed).argsort().tolist() for seed in (0, 1)]
    [[0, 1], [1, 0]]
    """
    return scramble(hashes ^ scramble(np.array([seed], dtype=np.uint64)))


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows in review order, and which of them it does not tell apart.

    `order` has row positions, most suspicious first, and rows of one block in their original order;
    `starts` says where in it each block of indistinct rows begins.
    """

    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, score: FloatArray, ties: UInt64Array | None = None) -> Ranking:
        """Return the ranking by descending score, and among equal scores by `ties`."""
        if ties is None:
            order = np.argsort(-score, kind="stable")
            new = _differs(score[order])
        else:
            order = np.lexsort((ties, -score))
            new = _differs(score[order]) | _differs(ties[order])
        return cls(order, np.flatnonzero(new))

    def top(self, values: BoolArray | FloatArray, size: int) -> float:
        """Return the expected sum of the values of the first `size` rows; a whole one as an int.

        Examples
        --------
        >>> ranking = Ranking.of(np.array([0.9, 0.5, 0.5, 0.5]))
        >>> [ranking.top(np.array([True, True, False, True]), size) for size in (1, 2, 4)]
        [1, 1.6666666666666667, 3]
        """
        return self.found(values).top(size)

    def found(self, values: BoolArray | FloatArray) -> Found:
        """Return the values in review order, to be summed up to any number of rows."""
        return Found.of(values[self.order], self.starts)


@dataclass(frozen=True, eq=False)
class Found:
    """What the first rows of a ranking hold, on average over the orders of indistinct rows."""

    ranked: BoolArray | FloatArray
    starts: IntArray

    @classmethod
    def of(cls, ranked: BoolArray | FloatArray, starts: IntArray) -> Found:
        """Take values in review order, and where blocks of indistinct rows begin in it."""
        if ranked.dtype.kind == "f" and len(starts) < len(ranked):
            # Sums of floats depend on the order, in their last digits.
            block = np.zeros(len(ranked), dtype=np.intp)
            block[starts[1:]] = 1
            ranked = ranked[np.lexsort((ranked, np.cumsum(block)))]
        return cls(ranked, starts)

    def top(self, size: int) -> float:
        """Return the expected sum of the first `size` rows; a whole one as an int."""
        if not size:
            return 0
        cut = np.searchsorted(self.starts, size - 1, side="right") - 1
        first = int(self.starts[cut])
        last = int(self.starts[cut + 1]) if cut + 1 < len(self.starts) else len(self.ranked)
        if last == size:
            return whole(self.ranked[:size].sum().item())
        # The cut lies in a block, whose rows take its places in any order.
        before, inside = self.ranked[:first].sum().item(), self.ranked[first:last].sum().item()
        block = last - first
        return whole((before * block + (size - first) * inside) / block)

    def share(self, size: int) -> float:
        """Return that sum as a share of the whole."""
        return float(self.top(size) / self.top(len(self.ranked)))


def _differs(ranked: npt.NDArray[Any]) -> BoolArray:
    """Return whether each value differs from the one before it; not by `diff`: infinite ones."""
    return np.append(True, ranked[1:] != ranked[:-1])[: len(ranked)]


def whole(value: float) -> float:
    """Return a number as an int where it is one, so that counts read as counts."""
    return int(value) if value == int(value) else value
