"""Changes that no test can notice, each with the reason; by file and change, and perhaps line."""

from __future__ import annotations

EXPLAINED: dict[tuple[str, ...], str] = {
    (
        "metrics/clustered.py",
        "`area.value in (0.0, 1.0) or spread == 0.0` becomes "
        "`area.value in (0.0, 1.0) and spread == 0.0`",
    ): "an area of 0 or 1 has no spread, and without spread the reach is 0",
    ("evaluation/betting.py", "`1` becomes `2`", "width = int(left.max()) + 1"): (
        "any width above the largest second number tells the pairs apart"
    ),
    ("evaluation/bounds.py", "`81` becomes `82`"): (
        "the sum over the grid of chances is an upper bound for any grid"
    ),
    ("evaluation/budget.py", "`2` becomes `3`"): (
        "the steps are whole hundredths, the same rounded to two decimals or three"
    ),
    ("rankers/evidence.py", "`50` becomes `51`"): (
        "it matters only with exactly 50 eligible rows, where either way of scaling is fine"
    ),
    ("rankers/inputs.py", "`400` becomes `401`"): (
        "it matters only with exactly 401 columns, which cost about as much as 400"
    ),
    (
        "rankers/correction.py", "`0` becomes `1`", "np.empty((0, 0)),",
    ): "the value is replaced before it is read",
    ("monitoring/drift.py", "`0` becomes `1`", 'class_weight="balanced", random_state=0,'): (
        "without early stopping and with all rows binned, the trees draw no random numbers"
    ),
    (
        "monitoring/statistics.py", "`True` becomes `False`",
        "tuple(own + more for own, more in zip(self.counts, other.counts, strict=True)),",
    ): "their lengths have been compared already",
    (
        "storage/archive.py", "`1` becomes `2`",
        'with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:',
    ): "files are compressed a little better and a little more slowly",
    (
        "storage/checked.py", "`0` becomes `1`",
        "return bool(np.all(children > parents)) and _within(children, 0, count)",
    ): "a child that comes after its parent is at least 1",
    ("storage/checked.py", "`0` becomes `1`", "and _within(2 * inner + 2, 0, len(nodes))"): (
        "twice a position, plus 2, is at least 2"
    ),
}  # fmt: skip


def why(file: str, change: str, line: str) -> str:
    """Return the reason that no test can notice a change of a line; none is known if empty."""
    return EXPLAINED.get((file, change, line.strip())) or EXPLAINED.get((file, change), "")
