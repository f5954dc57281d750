"""How much memory this process took at most."""

from __future__ import annotations

import sys

try:
    import resource
except ImportError:  # Windows does not have it
    resource = None  # type: ignore[assignment]


def peak_memory_mb() -> int | None:
    """Return the most memory this process held so far; None where the system does not say."""
    if resource is None:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in kilobytes, macOS in bytes.
    return round(most / (2**20 if sys.platform == "darwin" else 2**10))
