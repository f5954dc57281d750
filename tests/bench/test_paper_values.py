"""The paper's numbers in `paper_values.toml` are those of its LaTeX source, all of them.

The source is not part of the project. The comparison with it runs where a folder that holds it lies
beside the checkout (`../shared/paper`) or is named by `FALCON_DISCOVER_PAPER`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from falcon_discover.bench.check import paper_values

FOLDER = Path(
    os.environ.get("FALCON_DISCOVER_PAPER") or Path(__file__).parents[3] / "shared" / "paper"
)
NUMBER = re.compile(r"[+-]?\d*\.?\d+")
# Rows of words: which datasets a regime has is compared by name.
REGIMES = "tab:dataset_regimes"


def latex() -> str:
    files = sorted(FOLDER.glob("*.t*x*")) if FOLDER.is_dir() else []
    if not files:
        pytest.skip("the paper's LaTeX source is not here; FALCON_DISCOVER_PAPER names its folder")
    return files[0].read_text()


def body(text: str, label: str) -> list[str]:
    """Return the rows of a table between its first midrule and its bottomrule."""
    start = text.index(rf"\label{{{label}}}")
    table = text[start : text.index(r"\bottomrule", start)]
    rows = table[table.index(r"\midrule") :].split(r"\\")
    return [row.replace(r"\midrule", "").strip() for row in rows if "&" in row]


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell; a count keeps its first, a power of ten is worked out."""
    cell = re.sub(r"\\(best|second|textbf)\{([^{}]*)\}", r"\2", cell)
    if power := re.search(r"([\d.]*)(?:\{\\times\})?10\^\{-(\d)\}", cell):
        return [float(power[1] or 1) * 10 ** -int(power[2])]
    found = [float(number) for number in NUMBER.findall(cell)]
    return found[:1] if re.search(r"\d/\d", cell) else found


def printed(text: str, label: str) -> list[list[float]]:
    # The first cell of a row is its name; the two extended tables have an empty one before it.
    skip = 2 if "compact" in label else 1
    return [
        [number for cell in row.split("&")[skip:] for number in numbers(cell)]
        for row in body(text, label)
    ]


@pytest.mark.parametrize("label", [name for name in paper_values() if name != REGIMES])
def test_every_number_of_a_table_is_the_printed_one(label):
    rows = printed(latex(), label)
    known = [list(columns.values()) for columns in paper_values()[label].values()]
    if label == "tab:extended_validation_compact_a":
        # The last row prints intervals; here are two rows of bounds.
        low, high = known[-2:]
        known = [*known[:-2], [bound for pair in zip(low, high, strict=True) for bound in pair]]
    assert rows == [pytest.approx(row, abs=1e-12) for row in known]


def test_every_regime_is_the_printed_one():
    text = latex()
    start = text.index(rf"\label{{{REGIMES}}}")
    table = text[start : text.index(r"\bottomrule", start)].lower().replace(" ", "_")
    for dataset, columns in paper_values()[REGIMES].items():
        row = re.search(rf"{columns['regime']}_&([^&]*)&", table)
        assert row is not None
        assert dataset in row[1]


def test_all_611_printed_values_are_there():
    # 604 numbers counted in the source, and the regimes of seven data sets.
    assert sum(len(row) for table in paper_values().values() for row in table.values()) == 611


def test_the_means_of_the_uncertainty_table_match_the_main_table_as_its_caption_says():
    values = paper_values()
    for dataset, row in values["tab:all_dataset_uncertainty"].items():
        means = {name: row[name] for name in row if not name.endswith(("_low", "_high"))}
        main = values["tab:main_discrepancy_family"][dataset]
        assert means == {name: main[name] for name in means}
