"""How every chart looks: colours, dashes and markers, by the classes of the page's style sheet."""

from __future__ import annotations

from typing import Any, NamedTuple

INK, QUIET, GREY, ORANGE, BLUE = "#1a2029", "#56606d", "#9aa4b0", "#d55e00", "#0072b2"


class Stroke(NamedTuple):
    """How a line looks; colour is never the only cue."""

    colour: str
    dash: Any = "-"
    marker: str = "circle"
    width: float = 1.3


class Fill(NamedTuple):
    """How an area looks."""

    colour: str
    alpha: float = 1.0
    hatch: str = ""


# After Okabe and Ito's colours, told apart by colour-blind readers too.
STROKES = {
    "c0": Stroke(ORANGE, width=2.0),
    "c1": Stroke(BLUE, (0, (5, 2)), "square"),
    "c2": Stroke("#2f93cf", ":", "up"),
    "c3": Stroke("#009e73", "-.", "down"),
    "c4": Stroke("#b97d00", "--", "diamond"),
    "c5": Stroke("#b0588c", (0, (8, 3)), "cross"),
    "c0 dashed": Stroke(ORANGE, "--", "down"),
    "c1 plain": Stroke(BLUE),
    "c1 single": Stroke(BLUE, "none"),
    "whisker c1": Stroke(BLUE, marker="cap"),
    "whisker ink": Stroke(INK, marker="cap"),
    "rule": Stroke(QUIET, (0, (3, 3)), width=1.0),
    "rule strong": Stroke(INK, (0, (3, 3)), width=1.0),
    "frame": Stroke(INK, width=2.0),
}
FILLS = {
    "fill0": Fill(ORANGE),
    "fill0 hatched": Fill(ORANGE, hatch="////"),
    "fill1": Fill("#8cc4e6"),
    "fill2": Fill(GREY),
    "rail": Fill("#eef1f6"),
    "muted": Fill(GREY, 0.38),
    "faint": Fill(ORANGE, 0.15),
    "eligible": Fill(INK, 0.06),
    "heat warm": Fill(ORANGE),
    "heat cool": Fill(BLUE),
}
# The ranker in question has the first style, one that is not named here the last.
RANKERS = {"gated_confidence": "c1", "s_disc": "c2", "s_stab": "c3", "confidence": "c4"}
RANKER_NAMES = {
    "auto": "auto (learned risk)",
    "gated_confidence": "gated confidence",
    "by_cost": "by expected cost",
    "s_disc": "discrepancy (paper)",
    "s_stab": "stability (paper)",
    "confidence": "most confident first",
    "random": "random",
}


def ranker_name(name: str) -> str:
    """Return a ranker's name in words.

    Examples
    --------
    >>> ranker_name("s_stab"), ranker_name("mine")
    ('stability (paper)', 'mine')
    """
    return RANKER_NAMES.get(name, name)
