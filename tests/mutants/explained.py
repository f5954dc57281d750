"""Changes that no test can notice, each with the reason; by file and change."""

from __future__ import annotations

EXPLAINED: dict[tuple[str, str], str] = {
    (
        "metrics/clustered.py",
        "`area.value in (0.0, 1.0) or spread == 0.0` becomes "
        "`area.value in (0.0, 1.0) and spread == 0.0`",
    ): "an area of 0 or 1 has no spread, and without spread the reach is 0",
}
