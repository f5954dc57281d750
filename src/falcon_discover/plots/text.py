"""How wide words are and how they are broken into lines, without a font at hand.

Widths are those of DejaVu Sans, which is wider than most fonts of browsers: what fits here fits.
"""

from __future__ import annotations

import re

# Width of a character as a share of the font size, by the first group that holds it.
WIDTHS = (
    ("fijlrtI.,:;'|!()[]/- ", 0.40),
    ("mwMW%@\N{HORIZONTAL ELLIPSIS}", 0.97),
    ("<>=+\N{MINUS SIGN}", 0.84),
)
CAPITAL, OTHER, FOREIGN = 0.74, 0.63, 1.05
SIZE = 12.0  # of the text of a chart
MAX_LINES = 6
# A long name breaks after these, if it must.
PIECES = re.compile(r"[^_/.,;:=\-]*[_/.,;:=\-]*")


def text_width(words: str, size: float = SIZE) -> float:
    """Return how wide words are at most, in the unit of the font size.

    Examples
    --------
    >>> text_width("100%", size=10) > text_width("1,1", size=10)
    True
    """
    return size * sum(map(_width, words))


def _width(character: str) -> float:
    for group, width in WIDTHS:
        if character in group:
            return width
    if not character.isascii():
        return FOREIGN
    return CAPITAL if character.isupper() else OTHER


def in_lines(words: str, width: float, size: float = SIZE, lines: int = MAX_LINES) -> list[str]:
    """Return words in lines of at most this width; what needs more lines ends in an ellipsis.

    Examples
    --------
    >>> in_lines("few rows are like it", 80)
    ['few rows', 'are like it']
    >>> in_lines("outstanding_balance_of_accounts", 110)
    ['outstanding_', 'balance_of_', 'accounts']
    """
    found = [""]
    for word in words.split():
        joined = f"{found[-1]} {word}".lstrip()
        if text_width(joined, size) <= width:
            found[-1] = joined
        else:
            found += _pieces(word, width, size)
    return _cut([line for line in found if line] or [""], width, size, lines)


def _pieces(word: str, width: float, size: float) -> list[str]:
    """Return a word in pieces that each fit, broken after a sign where there is one."""
    found = [""]
    for part in PIECES.findall(word):
        if text_width(found[-1] + part, size) <= width:
            found[-1] += part
            continue
        for character in [part] if text_width(part, size) <= width else part:
            if found[-1] and text_width(found[-1] + character, size) > width:
                found.append("")
            found[-1] += character
    return [piece for piece in found if piece]


def _cut(found: list[str], width: float, size: float, lines: int) -> list[str]:
    if len(found) <= lines:
        return found
    last = found[lines - 1]
    while last and text_width(f"{last}…", size) > width:
        last = last[:-1]
    return [*found[: lines - 1], f"{last}…"]
