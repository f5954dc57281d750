"""Why figures differ from the paper's: known reasons, by table, data set and figure."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Reason:
    """One reason and where it holds.

    `cells` are patterns of "table dataset figure", with the table without its "tab:".
    """

    key: str
    title: str
    text: str
    cells: tuple[str, ...]

    def explains(self, label: str, dataset: str, figure: str) -> bool:
        """Return whether a cell is among those that the reason is known to hold for."""
        place = f"{label.removeprefix('tab:')} {dataset} {figure}"
        return any(fnmatchcase(place, pattern) for pattern in self.cells)


@cache
def reasons() -> tuple[Reason, ...]:
    """Return the reasons in the order in which they are tried; the last takes what is left."""
    text = files("falcon_discover.bench").joinpath("paper_reasons.toml").read_text()
    return tuple(
        Reason(key, entry["title"], entry["text"].strip(), tuple(entry["cells"]))
        for key, entry in tomllib.loads(text).items()
    )


def reason_of(label: str, dataset: str, figure: str) -> str:
    """Return the key of the first reason that holds for a cell.

    Examples
    --------
    >>> reason_of("tab:dataset_regimes", "magic_telescope", "regime")
    'regimes'
    """
    return next(r.key for r in reasons() if r.explains(label, dataset, figure))
