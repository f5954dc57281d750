"""Put the committed figures into the README: python scripts/update_readme.py."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from falcon_discover.bench.check import paper_values

ROOT = Path(__file__).parents[1]
NAMES = {
    "events": "confident errors per test split",
    "confidence": "Capture@20, most confident first",
    "s_stab": "Capture@20, `s_stab`",
    "s_disc": "Capture@20, `s_disc`",
    "learned": "Capture@20, learned witness",
    "gated_confidence": "Capture@20, **gated confidence**",
}


def adult_table() -> str:
    """Return the Adult figures as Markdown: mean over seeds with its range, beside the paper."""
    runs = pd.read_csv(ROOT / "results" / "adult_core.csv")
    printed = paper_values()
    paper = {
        **printed["tab:family_ablation"]["adult"],
        **printed["tab:operational_robustness"]["adult"],
        "confidence": printed["tab:appendix_full_baselines"]["confidence"]["adult"],
    }
    lines = ["| | ours (range of the seeds) | paper |", "|---|---|---|"]
    for key, name in NAMES.items():
        digits = 1 if key == "events" else 3
        mean, low, high = (f"{v:.{digits}f}" for v in runs[key].agg(["mean", "min", "max"]))
        ours = f"{mean} ({low} to {high})"
        theirs = f"{paper[key]:.{digits}f}" if key in paper else "not reported"
        lines.append(f"| {name} | {ours} | {theirs} |")
    return "\n".join(lines)


def filled(text: str) -> str:
    """Return the README's text with the table between its marks renewed."""
    marks = r"(<!-- adult:begin -->\n).*?(<!-- adult:end -->)"
    return re.sub(marks, lambda m: f"{m[1]}{adult_table()}\n{m[2]}", text, flags=re.DOTALL)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text()))
