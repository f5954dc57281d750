"""Put the committed figures into README and docs: python scripts/update_readme.py [--check]."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from figures import (
    actions,
    claims,
    comparators,
    daily_loop,
    label_doubt,
    learn,
    monitoring,
    multiclass,
    paper,
    performance,
    plausibility,
    predictions,
    ranking,
    reference,
    reliability,
    signals,
)
from figures.common import ROOT

PAGES = (
    "README.md",
    "docs/concepts.md",
    "docs/glossary.md",
    "docs/command-line.md",
    "docs/reference/rankers.md",
    "docs/beyond.md",
    "docs/regions.md",
    "docs/calibration.md",
    "docs/limits.md",
    "docs/statistics.md",
    "docs/multiclass.md",
    "docs/label-errors.md",
    "docs/monitoring.md",
    "docs/performance.md",
    "docs/reliability.md",
    "docs/guides/audit-predictions.md",
    "docs/guides/daily-loop.md",
    "docs/guides/learn-from-reviews.md",
    "docs/guides/scale-out.md",
    "docs/paper/reproduction.md",
    "docs/paper/deviations.md",
    "docs/paper/comparators.md",
)
TABLES = {
    **ranking.TABLES,
    **actions.TABLES,
    **performance.TABLES,
    **plausibility.TABLES,
    **paper.TABLES,
    **comparators.TABLES,
    **daily_loop.TABLES,
    **claims.TABLES,
    **multiclass.TABLES,
    **label_doubt.TABLES,
    **monitoring.TABLES,
    **learn.TABLES,
    **predictions.TABLES,
    **signals.TABLES,
    **reference.TABLES,
    **reliability.TABLES,
}


def filled(text: str) -> str:
    """Return a text with every marked table renewed."""
    for name, make in TABLES.items():
        marks = rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)"
        if re.search(marks, text, flags=re.DOTALL):
            body = make()
            text = re.sub(
                marks, lambda m, body=body: f"{m[1]}{body}\n{m[2]}", text, flags=re.DOTALL
            )
    return text


# Figures of the results that pages of the site show; the site serves nothing outside docs/.
FIGURES = (
    "beyond/gains.png",
    "beyond/risk_calibration.png",
    "comparators/stronger_predictors.png",
    "figures/adult_operating_points.png",
)


def stale() -> list[str]:
    """Return the pages and images that are not what the results give."""
    pages = [page for page in PAGES if filled(text := (ROOT / page).read_text()) != text]
    images = [
        figure
        for figure in FIGURES
        if (ROOT / "results" / figure).read_bytes()
        != (ROOT / "docs" / "images" / Path(figure).name).read_bytes()
    ]
    return pages + images


def main() -> int:
    """Renew the pages, or with --check only say which are out of date."""
    if "--check" in sys.argv[1:]:
        old = stale()
        for name in old:
            print(f"{name} is out of date: python scripts/update_readme.py", file=sys.stderr)
        return bool(old)
    for figure in FIGURES:
        source = ROOT / "results" / figure
        (ROOT / "docs" / "images" / source.name).write_bytes(source.read_bytes())
    for page in PAGES:
        path = ROOT / page
        path.write_text(filled(path.read_text()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
