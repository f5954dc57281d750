"""One description of a chart, two ways of drawing it: the same words, marks and looks."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files

import numpy as np
import pytest

from falcon_discover import InputError
from falcon_discover.audit.curves import Curves
from falcon_discover.evaluation.results import records
from falcon_discover.plots import charts, draw
from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text, box
from falcon_discover.plots.style import FILLS, STROKES
from falcon_discover.plots.text import text_width
from falcon_discover.report.svg import WIDTH, strip, svg
from support.findings import made_up

CSS = files("falcon_discover.report").joinpath("templates", "style.css").read_text()
FAMILIES = [
    {"family": "support", "loss": 0.02, "low": -0.01, "high": 0.05},
    {"family": "two, of which one has a name that takes two lines", "loss": 0.01,
     "low": None, "high": None},
]  # fmt: skip
REGIONS = [
    {"kind": "all", "name": "all", "rate": 0.02, "low": 0.01, "high": 0.03, "events": 20,
     "eligible": 1000, "confirmed": False},
    {"kind": "rule", "name": "cost > $5 and fee > $2", "rate": 0.2, "low": 0.1, "high": 0.3,
     "events": 10, "eligible": 50, "confirmed": True},
]  # fmt: skip
METHODS = [
    {"method": name, "nll": 0.3, "brier": 0.1, "ece": ece, "errors_at_coverage": 12.5}
    for name, ece in (("before", 0.02), ("platt", 0.01), ("discrepancy", 0.03))
]


WORSE = {**METHODS[2], "nll": 0.4}


@pytest.fixture(scope="module")
def drawn() -> dict[str, Chart]:
    found = made_up(1_500)
    curves, conflict = Curves(found), found.conflict()
    slices = records(conflict.frame())
    return {
        "capture": charts.capture_chart(
            records(curves.capture()), records(curves.random_band()), 0.2
        ),
        "missed": charts.missed_chart(records(curves.missed()), 0.2),
        "reliability": charts.reliability_chart(records(curves.reliability())),
        "confidence": charts.confidence_chart(records(curves.confidence()), found.tau),
        "regions": charts.region_chart(REGIONS, REGIONS),
        "conflict": charts.conflict_chart(slices, slices[3], ("support", "mean_drift")),
        "signals": charts.signal_chart(records(curves.signals())),
        "contributions": charts.contribution_chart(FAMILIES),
        "calibration": charts.calibration_chart(METHODS),
        "periods": charts.period_chart(records(found.by_period(np.arange(1_500) % 3).frame())),
    }


NAMES = (
    "capture", "missed", "reliability", "confidence", "regions", "conflict", "signals",
    "contributions", "calibration", "periods",
)  # fmt: skip


def words_of(chart: Chart) -> list[str]:
    """Every word of a chart, in the order of no drawing."""
    texts = [layer.words for layer in chart.layers if isinstance(layer, Text)]
    ticks = [words for axis in (chart.x, chart.y) for _, words in axis.ticks]
    return sorted(" ".join([chart.x.label, chart.y.label, *chart.legend, *texts, *ticks]).split())


@pytest.mark.parametrize("name", NAMES)
def test_both_drawings_show_the_same_words(drawn, name):
    pytest.importorskip("matplotlib")
    chart = drawn[name]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", svg(chart, name, "words"))
    assert sorted(unescape(" ".join(shown)).split()) == words_of(chart)
    axes = draw(chart)
    axes.figure.canvas.draw()
    labels = [label for axis in (axes.xaxis, axes.yaxis) for label in axis.get_ticklabels()]
    legend = [text for part in axes.figure.legends for text in part.get_texts()]
    texts = [axes.xaxis.label, axes.yaxis.label, *labels, *legend, *axes.texts]
    plain = " ".join(text.get_text() for text in texts).replace(r"\$", "$")
    assert sorted(plain.split()) == words_of(chart)
    assert axes.get_title(loc="left").replace("\n", " ") == chart.title


@pytest.mark.parametrize("name", NAMES)
def test_every_note_of_a_chart_shows_when_pointed_at(drawn, name):
    chart = drawn[name]
    notes = [layer.note for layer in chart.layers if isinstance(layer, Area) and layer.note]
    for layer in chart.layers:
        notes += layer.notes.values() if isinstance(layer, Line) else ()
    shown = re.findall(r"<title>([^<]*)</title>", svg(chart, name, "words"))
    assert {unescape(note) for note in shown} == set(notes)
    assert notes


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_drawn_outside_and_no_legend_entry_covers_another(drawn, name):
    chart = drawn[name]
    page = svg(chart, name, "words")
    _, _, width, height = map(float, re.search(r'viewBox="([^"]*)"', page).group(1).split())
    for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", page):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height
    entries = {
        unescape(words): (float(x), float(y))
        for x, y, words in re.findall(
            r'x="([\d.]+)" y="([\d.]+)" text-anchor="start">([^<]*)', page
        )
        if unescape(words) in chart.legend
    }
    assert set(entries) == set(chart.legend)
    for words, (x, y) in entries.items():
        right = [other for other, line in entries.values() if line == y and other > x]
        assert x + text_width(words) <= min([WIDTH + 32.0, *right]) - 32


def test_the_style_sheet_has_the_colours_that_matplotlib_draws_with():
    light = dict(re.findall(r"--(\w+): (#\w+);", CSS[: CSS.index('[data-theme="dark"]')]))
    for style, stroke in STROKES.items():
        if number := re.search(r"\bc\d", style):
            assert light[number.group()] == stroke.colour, style
    assert light["bar1"] == FILLS["fill1"].colour
    assert light["bar2"] == FILLS["fill2"].colour == FILLS["muted"].colour
    assert light["c0"] == FILLS["fill0"].colour == FILLS["faint"].colour
    assert light["soft"] == FILLS["rail"].colour


def test_every_style_has_a_rule_of_the_style_sheet():
    for style in (*STROKES, *FILLS):
        assert f".chart .{style.split()[0]}" in CSS, style


def test_a_value_beyond_an_axis_lies_at_its_end():
    chart = Chart("t", Axis("x", 0, 1), Axis("rows", 0, 100), [Area(box(0, 1, -5, 200), "fill1")])
    page = svg(chart, "t", "words")
    (outline,) = re.findall(r'class="fill1" d="([^"]*)"', page)
    foot = re.search(r'class="axis" d="M[\d.]+ ([\d.]+)', page).group(1)
    assert {y for _, y in re.findall(r"([\d.]+) ([\d.]+)", outline)} == {foot, "12.0"}


def test_names_of_a_list_come_from_the_top_down_whatever_their_length():
    page = svg(charts.contribution_chart(FAMILIES), "t", "words")
    marks = re.findall(r'class="mark[^"]*" d="M[\d.]+ ([\d.]+)', page)
    # One line of 14 with 6 to spare under a top of 12, then one of three lines.
    assert marks == ["22.0", "56.0"]


def test_bars_are_as_long_as_what_they_stand_for():
    """No logarithm, no cut: a wrong share of one in 190 is one in 190 of the bar."""
    bins = [
        {"from": 0.5, "to": 0.9, "rows": 40, "wrong": 10, "eligible": False},
        {"from": 0.9, "to": 1.0, "rows": 3_800, "wrong": 20, "eligible": True},
    ]
    areas = [
        layer for layer in charts.confidence_chart(bins, 0.9).layers if isinstance(layer, Area)
    ]
    heights = {(area.style, area.outline[1][1]) for area in areas if area.name}
    assert heights == {
        ("fill1", 40),
        ("fill1", 3_800),
        ("fill0 hatched", 10),
        ("fill0 hatched", 20),
    }
    assert {area.outline[0][1] for area in areas} == {0}


def test_titles_say_what_there_is_to_see():
    bins = [{"from": 0.9, "to": 1.0, "rows": 3_800, "wrong": 1, "eligible": True}]
    assert "3,800 of 3,800" in charts.confidence_chart(bins, 0.9).title
    assert "1 of these is wrong" in charts.confidence_chart(bins, 0.9).title
    none = [{**bins[0], "rows": 0, "wrong": 0}]
    assert charts.confidence_chart(none, 0.9).title.startswith("None of 0")
    band = [{"budget": b, "low": 0.0, "high": 1.0} for b in (0.1, 0.2)]
    found = [
        {"ranker": "auto", "budget": b, "capture": c, "captured": n, "events": 8, "low": c,
         "high": c}
        for b, c, n in ((0.1, 0.5, 4), (0.2, 0.75, 6))
    ]  # fmt: skip
    assert "6 of 8 confident errors (75" in charts.capture_chart(found, band).title
    assert "4 of 8 confident errors (50" in charts.capture_chart(found, band, 0.12).title
    assert "does not help" in charts.calibration_chart([*METHODS[:2], WORSE]).title
    assert "changes little" in charts.calibration_chart(METHODS).title


def test_a_measure_that_was_zero_has_no_bar_and_shows_its_figure():
    perfect = [{**method, "ece": 0.0} for method in METHODS[:2]]
    chart = charts.calibration_chart([*perfect, METHODS[2]])
    bars = [layer for layer in chart.layers if isinstance(layer, Area)]
    assert len(bars) == 3 * 3
    words = [layer.words for layer in chart.layers if isinstance(layer, Text)]
    assert sorted(words) == sorted(3 * ["0.300", "0.100", "12.5"] + 2 * ["0.0000"] + ["0.0300"])


def test_a_chart_without_a_region_is_drawn_all_the_same():
    chart = charts.region_chart([], [])
    assert chart.title == "Rate of confident errors"
    assert "<svg" in svg(chart, "t", "words")
    pytest.importorskip("matplotlib")
    assert draw(chart).get_xlabel() == chart.x.label


def test_a_finding_draws_its_periods():
    pytest.importorskip("matplotlib")
    axes = made_up(200).plot.periods(np.arange(200) % 2)
    assert axes.get_xlabel() == "period"
    assert "periods(times)" in repr(made_up(200).plot)


def test_axes_that_are_given_are_drawn_into(drawn):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    _, right = figure.subplots(1, 2)
    assert draw(drawn["reliability"], right) is right
    assert right.get_legend() is not None
    assert figure.legends == []


def test_the_chart_of_what_is_left_ends_where_the_bound_is_lowest():
    left = [
        {"budget": b, "unreviewed": 100, "missed": 1, "rate": 0.01, "band": band}
        for b, band in ((0.1, 0.3), (0.35, 0.05), (0.6, 0.2), (0.9, 0.9))
    ]
    assert charts.missed_chart(left).x.high == 0.4
    assert charts.missed_chart(left, 0.5).x.high == 0.8
    assert charts.missed_chart([]).x.high == 0.1


def test_the_strip_of_a_region_has_no_words_of_its_own():
    page = strip(charts.region_chart(REGIONS[1:], REGIONS), "t", "a fifth is wrong")
    assert "<text" not in page
    assert "a fifth is wrong</desc>" in page
    # The interval reaches the highest end, which is where the scale ends: WIDTH - 2.
    assert re.search(r'class="whisker ink" d="M[\d.]+ 12.0L378.0 12.0', page)


def test_a_map_of_signals_that_are_not_there_is_refused_with_those_that_are():
    with pytest.raises(InputError, match="too few predictions are confident"):
        charts.conflict_chart([], None, ("support", "mean_drift"))
    slices = records(made_up(1_500).conflict().frame())
    with pytest.raises(InputError, match="choose 'support' with 'mean_drift'"):
        charts.conflict_chart(slices, None, ("support", "support"))


def test_a_notebook_shows_a_figure_and_a_script_keeps_none(drawn, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    # Another test may have left some open.
    pyplot.close("all")
    draw(drawn["reliability"])
    assert pyplot.get_fignums() == []
    monkeypatch.setattr("falcon_discover.plots.matplotlib.notebook_display", object)
    axes = draw(drawn["reliability"])
    assert [pyplot.figure(number) for number in pyplot.get_fignums()] == [axes.figure]
    pyplot.close(axes.figure)
