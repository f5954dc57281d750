"""Put the committed figures into the README: python scripts/update_readme.py."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from falcon_discover.bench import plan
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


def main_table() -> str:
    """Return the main result as Markdown: Capture@20 at tau 0.90, paper beside ours."""
    lines = pd.read_csv(ROOT / "results" / "tables" / "seed_level.csv")
    wanted = lines["table"].isin(["tab:main_discrepancy_family", "tab:operational_robustness"])
    numbers = lines[wanted].assign(value=pd.to_numeric(lines["value"], errors="coerce"))
    means = numbers.groupby(["row", "column"])["value"].mean()
    printed = paper_values()["tab:main_discrepancy_family"]
    rows = [
        "| data set | confident errors | best prior: ours (paper) | best family: ours (paper) "
        "| **gated confidence** |",
        "|---|---|---|---|---|",
    ]
    for name in plan.DATASETS:
        paper = printed.get(name)
        cells = [plan.TITLES[name], f"{means[name, 'events']:.1f}"]
        for column in ("prior_cap20", "family_cap20"):
            theirs = "other data" if paper is None else f"{paper[column]:.3f}"
            cells.append(f"{means[name, column]:.3f} ({theirs})")
        rows.append(f"| {' | '.join(cells)} | **{means[name, 'gated_cap20']:.3f}** |")
    return "\n".join(rows)


TABLES = {"adult": adult_table, "main": main_table}


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


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text()))
