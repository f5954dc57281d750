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
    ("rankers/inputs.py", "`400` becomes `401`"): (
        "a choice that matters for exactly 401 columns, which cost too much about as much as 400"
    ),
    (
        "rankers/correction.py", "`0` becomes `1`", "np.empty((0, 0)),",
    ): "a place that is filled before anything is read from it",
    ("monitoring/drift.py", "`0` becomes `1`", 'class_weight="balanced", random_state=0,'): (
        "without early stopping, and on samples that are binned whole, the trees draw nothing"
    ),
    (
        "monitoring/statistics.py", "`True` becomes `False`",
        "tuple(own + more for own, more in zip(self.counts, other.counts, strict=True)),",
    ): "their lengths were compared before",
    (
        "storage/archive.py", "`1` becomes `2`",
        'with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:',
    ): "files are packed a little smaller, and a little more slowly",
    (
        "storage/checked.py", "`0` becomes `1`",
        "return bool(np.all(children > parents)) and _within(children, 0, count)",
    ): "a child that comes after its parent is at least 1",
    ("storage/checked.py", "`0` becomes `1`", "and _within(2 * inner + 2, 0, len(nodes))"): (
        "twice a place, and 2, is at least 2"
    ),
}  # fmt: skip


def why(file: str, change: str, line: str) -> str:
    """Return the reason that no test can notice a change of a line; none is known if empty."""
    return EXPLAINED.get((file, change, line.strip())) or EXPLAINED.get((file, change), "")
