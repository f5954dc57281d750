"""Print constraints that pin every dependency to the lowest version `pyproject.toml` promises.

The tools of the tests are pinned by `constraints.txt` instead: no user depends on their versions.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("test", "dev", "docs", "peers", "all")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    promised = [
        *project["dependencies"],
        *(line for name, lines in extras.items() if name not in TOOLS for line in lines),
    ]
    lowest = dict(re.findall(r"^([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", "\n".join(promised), re.M))
    tools = re.findall(r"^[\w-]+", "\n".join(extras["test"]), re.M)
    for name, version in sorted(lowest.items()):
        print(f"{name}=={version}")
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name = line.partition("==")[0]
        if name in tools and name not in lowest:
            print(line)


if __name__ == "__main__":
    main()
