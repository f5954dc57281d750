"""What the campaign found, and what was mended: one line each, in the words of the docs."""

from __future__ import annotations

# By part of the campaign, as `Part.what` calls it.
MENDED: dict[str, tuple[str, ...]] = {}
