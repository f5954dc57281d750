"""The command line, with its own peak memory at the end: python peak_of.py FILE score ...

`getrusage` counts what the parent had in memory when it started this process; the system's own
count of this process does not. The peak in megabytes is written to FILE.
"""

from __future__ import annotations

import sys
from pathlib import Path


def peak_mb() -> float:
    """Return the largest resident set of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    from falcon_discover.cli import main

    file = Path(sys.argv.pop(1))
    try:
        main()
    finally:
        file.write_text(str(peak_mb()))
