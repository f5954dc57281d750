"""List what an installation brings along, from its CycloneDX file, with licences.

    python scripts/licences.py build/sbom.cdx.json        # results/reliability/licences.csv

Fails where a package has a licence that forbids use beside closed programs (the GPL family, but
for the LGPL).
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parents[1] / "results" / "reliability" / "licences.csv"
# Their files name no licence; their repositories do.
STATED = {"catboost": "Apache-2.0", "partd": "BSD-3-Clause"}
OURS = "falcon-discover"
STRONG = re.compile(r"(^|[^L])A?GPL|GNU (Affero )?General")


def licence(component: dict[str, Any]) -> str:
    """Return the licence that a package declares."""
    names = []
    for one in component.get("licenses", []):
        told = one.get("expression") or one["license"].get("id") or one["license"].get("name", "")
        short = told.removeprefix("License :: OSI Approved :: ").strip()
        # Some put the whole text there.
        names.append(short.splitlines()[0][:60])
    known = sorted({name for name in names if name}, key=len)
    return known[0] if known else STATED.get(component["name"], "not declared")


def main() -> None:
    parts = json.loads(Path(sys.argv[1]).read_text())["components"]
    rows = sorted(
        (part["name"].lower(), part["version"], licence(part))
        for part in parts
        if part["name"] != OURS
    )
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    with RESULT.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["package", "version", "licence"])
        table.writerows(rows)
    strong = [row for row in rows if STRONG.search(row[2])]
    print(f"{len(rows)} packages, {len({row[2] for row in rows})} licences: {RESULT}")
    if strong:
        raise SystemExit(f"licences that ask for more: {strong}")


if __name__ == "__main__":
    main()
