"""No word of a chart covers another, whatever the data: measured on both drawings."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations

import pytest

from falcon_discover.plots import draw
from falcon_discover.plots.chart import Chart
from falcon_discover.plots.text import text_width
from falcon_discover.report.svg import WIDTH, svg
from support.chart_cases import CASES

Box = tuple[float, float, float, float]
TEXT = re.compile(r'<text class="([^"]*)" x="([^"]+)" y="([^"]+)" text-anchor="(\w+)">([^<]*)<')
UPRIGHT = re.compile(r'translate\(([\d.]+) ([\d.]+)\) rotate\(-90\)"[^>]*>([^<]*)<')
# Matplotlib draws slowly: what is hardest for it.
DRAWN = {
    "a million rows and more": ("confidence", "regions", "calibration"),
    "long names": ("capture", "regions", "contributions"),
    "many regions and periods": ("regions", "periods"),
    "nothing is confident": ("missed", "periods"),
}


@pytest.fixture(scope="module")
def charts() -> dict[str, dict[str, Chart]]:
    return {case: make() for case, make in CASES.items()}


def boxes(page: str) -> dict[str, Box]:
    """Where each word of a page lies, by the widths that the layout itself goes by."""
    found = {}
    for i, (kind, x, y, anchor, words) in enumerate(TEXT.findall(page)):
        size = 10 if "small" in kind else 12
        wide = text_width(unescape(words), size)
        left = float(x) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        if words:
            found[f"{i} {words}"] = (left, left + wide, float(y) - 0.76 * size, float(y) + 2)
    for x, y, words in UPRIGHT.findall(page):
        half = text_width(unescape(words)) / 2
        found[f"upright {words}"] = (float(x) - 9, float(x) + 2, float(y) - half, float(y) + half)
    return found


def covers(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def collisions(found: dict[str, Box]) -> list[tuple[str, str]]:
    return [(a, b) for a, b in combinations(found, 2) if covers(found[a], found[b])]


@pytest.mark.parametrize("case", CASES)
def test_no_word_of_the_page_covers_another_or_leaves_the_chart(charts, case):
    for name, chart in charts[case].items():
        page = svg(chart, name, "words")
        height = float(re.search(r'viewBox="0 0 \d+ ([\d.]+)"', page).group(1))
        found = boxes(page)
        assert found, name
        assert collisions(found) == [], name
        for words, (left, right, top, bottom) in found.items():
            assert left >= 0, (name, words)
            assert right <= WIDTH, (name, words)
            assert top >= 0, (name, words)
            assert bottom <= height, (name, words)


def test_words_that_do_cover_each_other_are_seen():
    page = "".join(
        f'<text class="" x="{x}" y="20" text-anchor="middle">0.0869</text>' for x in (50, 70)
    )
    assert len(collisions(boxes(page))) == 1


@pytest.mark.parametrize("case", DRAWN)
def test_no_word_of_a_figure_covers_another_or_leaves_it(charts, case):
    agg = pytest.importorskip("matplotlib.backends.backend_agg")
    for name in DRAWN[case]:
        axes = draw(charts[case][name])
        figure = axes.figure
        agg.FigureCanvasAgg(figure).draw()
        ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        legend = [text for part in figure.legends for text in part.get_texts()]
        words = [axes.xaxis.label, axes.yaxis.label, *ticks, *legend, *axes.texts]
        found = {}
        for i, text in enumerate([*words, axes._left_title]):
            if text.get_text():
                area = text.get_window_extent()
                found[f"{i} {text.get_text()}"] = (area.x0, area.x1, area.y0, area.y1)
        assert collisions(found) == [], name
        wide, high = figure.canvas.get_width_height()
        for text, (left, right, bottom, top) in found.items():
            assert left >= -1, (name, text)
            assert right <= wide + 1, (name, text)
            assert bottom >= -1, (name, text)
            assert top <= high + 1, (name, text)
