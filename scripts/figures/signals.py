"""The signal catalogue."""

from __future__ import annotations

from falcon_discover.signals.catalogue import CATALOGUE
from figures.common import table


def signals_table() -> str:
    """Return every signal as Markdown, family by family."""
    return table(
        ["signal", "what it is", "unit", "suspicious if", "family", "from", "needs"],
        [
            [
                f"`{signal.name}`",
                signal.sentence,
                signal.unit,
                signal.suspicious or "",
                signal.family,
                "the paper" if signal.in_paper else "beyond it",
                "a model" if signal.needs_model else "",
            ]
            for signal in CATALOGUE
        ],
    )


TABLES = {"signals": signals_table}
