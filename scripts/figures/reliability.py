"""What campaigns of faults, generated inputs, versions and long runs found."""

from __future__ import annotations

from functools import partial

from figures.common import ROOT, results, table

CAMPAIGNS = (
    "faults", "inputs", "mended", "damaged", "agreement", "mutants", "mutants_left", "versions",
    "licences", "life", "guided",
)  # fmt: skip


def campaign(name: str) -> str:
    """Return the table of one campaign as its command wrote it."""
    if not (ROOT / "results" / "reliability" / f"{name}.csv").exists():
        return "Not run yet."
    lines = results("reliability", f"{name}.csv").astype(object)
    rows = [[_cell(value) for value in line] for line in lines.fillna("").to_numpy().tolist()]
    return table([str(head) for head in lines.columns], rows)


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


TABLES = {f"reliability_{name}": partial(campaign, name) for name in CAMPAIGNS}
