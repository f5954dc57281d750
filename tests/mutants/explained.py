"""Changes that no test can notice, each with the reason; by file and change."""

from __future__ import annotations

EXPLAINED: dict[tuple[str, str], str] = {}
