"""Changes that no test can notice, each with the reason; by file and change, and perhaps line."""

from __future__ import annotations

EXPLAINED: dict[tuple[str, ...], str] = {
    (
        "metrics/clustered.py",
        "`area.value in (0.0, 1.0) or spread == 0.0` becomes "
        "`area.value in (0.0, 1.0) and spread == 0.0`",
    ): "an area of 0 or 1 has no spread, and without spread the reach is 0",
    ("evaluation/betting.py", "`1` becomes `2`", "width = int(left.max()) + 1"): (
        "pairs of numbers are told apart by any width above the largest of the second ones"
    ),
    ("evaluation/bounds.py", "`81` becomes `82`"): (
        "the sum over the grid of chances is an upper one whatever the grid"
    ),
    ("evaluation/budget.py", "`2` becomes `3`"): (
        "the steps are whole hundredths: rounded to two places or three they are the same"
    ),
    ("rankers/evidence.py", "`50` becomes `51`"): (
        "a choice that matters for exactly 50 eligible rows, where either way of scaling will do"
    ),
}


def why(file: str, change: str, line: str) -> str:
    """Return the reason that no test can notice a change of a line; none is known if empty."""
    return EXPLAINED.get((file, change, line.strip())) or EXPLAINED.get((file, change), "")
