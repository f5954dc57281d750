"""The charts of a report, each described from the lines of the frames of `evaluation/curves.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from falcon_discover.exceptions import InputError
from falcon_discover.plots import titles
from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text, box, few, round_values
from falcon_discover.plots.style import RANKERS, ranker_name
from falcon_discover.runtime.format import amount, count, number, share, undefined
from falcon_discover.runtime.words import level, percent, rate
from falcon_discover.signals.catalogue import CONFLICT_WORDS

Records = list[dict[str, Any]]
Layers = list[Line | Area | Text]

MARK_EVERY = 6
# More names of periods than this are not shown: they would lie on each other.
PERIOD_NAMES = 6
CONFIDENCE_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
WIDE_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MEASURES = {
    "nll": "log loss",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
    "errors_at_coverage": "errors at equal coverage",
}
METHOD_STYLES = ("fill2", "fill1", "fill0 hatched")


def capture_chart(capture: Records, band: Records, budget: float | None = None) -> Chart:
    """Return what each ranker finds by budget, over the band of random review.

    The first ranker is the one in question, shown with its interval; `budget` is one to mark.
    """
    layers = [*_budget_rule(budget, 1.0), _band(band, "muted", "random (95% range)")]
    names = list(dict.fromkeys(c["ranker"] for c in capture))
    for name in reversed(names):
        known = [c for c in capture if c["ranker"] == name and not undefined(c["capture"])]
        marked = {
            i: f"{ranker_name(name)}: top {percent(c['budget'])} finds {count(c['captured'])}"
            for i, c in enumerate(known, start=1)
            if i % MARK_EVERY == 3
        }
        points = [(0.0, 0.0), *((c["budget"], c["capture"]) for c in known)]
        if name == names[0]:
            layers.append(_band(known, "faint"))
        style = "c0" if name == names[0] else RANKERS.get(name, "c5")
        layers.append(Line(points, style, ranker_name(name), marked))
    return Chart(
        titles.capture_title(capture, budget),
        Axis("share of predictions reviewed", 0, 1, percent),
        Axis("share of confident errors found", 0, 1, percent, (0, 0.25, 0.5, 0.75, 1)),
        layers,
    )


def missed_chart(missed: Records, budget: float | None = None) -> Chart:
    """Return the rate of confident errors among unreviewed rows, and an upper bound for all budgets.

    The fewer rows are left, the less is known about them: the chart ends where the bound is lowest,
    or somewhat beyond the budget in question.
    """  # noqa: E501
    left = [m for m in missed if m["unreviewed"] > 0]
    lowest = min(left, key=lambda m: float(m["band"]), default={"budget": 0.0})
    end = min(1.0, math.ceil(10 * max(lowest["budget"], 1.5 * (budget or 0.0), 0.1) - 1e-9) / 10)
    shown = [m for m in left if m["budget"] <= end]
    top = 1.15 * max([m["band"] for m in shown], default=0.0) or 1.0
    layers = _budget_rule(budget, top)
    for key, style, name in (
        ("rate", "c1 plain", "observed"),
        ("band", "c0 dashed", "95% upper bound, for any budget"),
    ):
        marked = {
            i: f"top {percent(m['budget'])} reviewed: {rate(m[key])} of the rest"
            for i, m in enumerate(shown)
            if i % MARK_EVERY == 0
        }
        layers.append(Line([(m["budget"], m[key]) for m in shown], style, name, marked))
    return Chart(
        titles.missed_title(left, budget),
        Axis("share of predictions reviewed", 0, end, percent),
        Axis("confident errors among the rest", 0, top, rate),
        layers,
    )


def reliability_chart(bins: Records) -> Chart:
    """Return the share of right predictions against the confidence."""
    start = _lowest_confidence(bins)
    foot = 0.1 * int(10 * min([start, *(b["low"] for b in bins)]) + 1e-9)
    notes = {
        i: f"{count(b['right'])} of {count(b['rows'])} right at {share(b['confidence'])}"
        for i, b in enumerate(bins)
    }
    points = [(b["confidence"], b["accuracy"]) for b in bins]
    return Chart(
        titles.reliability_title(bins),
        _confidence_axis("mean confidence", bins),
        Axis("accuracy (share right)", foot, 1, percent),
        [
            Line([(start, start), (1, 1)], "rule", "perfect calibration"),
            *(Line([(b["confidence"], b[k]) for k in ("low", "high")], "whisker c1") for b in bins),
            Line(points, "c1 plain", "the model, 95% interval", notes),
        ],
    )


def confidence_chart(bins: Records, tau: float | Mapping[str, float]) -> Chart:
    """Return the rows by confidence, wrong ones apart, the eligible part marked.

    Parameters
    ----------
    tau : confidence from which rows are eligible, which may differ by class
    """
    levels = sorted(set(tau.values())) if isinstance(tau, Mapping) else [tau]
    top = 1.05 * max(b["rows"] for b in bins) or 1.0
    layers: Layers = [Area(box(levels[0], 1, 0, top), "eligible")]
    for key, style, name in (
        ("rows", "fill1", "all predictions"),
        ("wrong", "fill0 hatched", "wrong"),
    ):
        for b in (b for b in bins if b.get(key)):
            note = f"{share(b['from'])} to {share(b['to'])}: {count(b['rows'])} predictions"
            note += f", {count(b['wrong'])} wrong" if "wrong" in b else ""
            layers.append(Area(box(b["from"], b["to"], 0, b[key]), style, name, note))
    layers += [Line([(value, 0), (value, top)], "rule strong") for value in levels]
    layers.append(Text((1, top), f"confident: at least {level(tau)}", "above left"))
    return Chart(
        titles.confidence_title(bins, tau),
        _confidence_axis("confidence", bins),
        Axis("number of predictions", 0, top, count, _whole(top)),
        layers,
    )


def _whole(top: float) -> list[float]:
    """Return round numbers of rows up to a top."""
    return [value for value in round_values(0, top) if value == int(value)]


def _lowest_confidence(bins: Records) -> float:
    # Only of more than two classes, or at a threshold, is a decision less sure than one half.
    return 0.5 if not bins or bins[0]["from"] >= 0.5 else 0.0


def _confidence_axis(label: str, bins: Records) -> Axis:
    if _lowest_confidence(bins):
        return Axis(label, 0.5, 1, percent, CONFIDENCE_TICKS)
    return Axis(label, 0, 1, percent, WIDE_TICKS)


def told(regions: Records) -> Records:
    """Return what may be acted on: all confident predictions, and regions that are confirmed."""
    return [r for r in regions if r["kind"] == "all" or r["confirmed"]]


def region_chart(regions: Records, among: Records) -> Chart:
    """Return the rate of confident errors in regions; the rule is that of all predictions.

    All regions in `among` are drawn on the same scale.
    """
    scale = max([r["high"] for r in among if not undefined(r["high"])] + [0.01])
    usual = [r["rate"] for r in among if r["kind"] == "all" and not undefined(r["rate"])]
    names = _list([r["name"] for r in regions])
    layers: Layers = [Area(box(0, scale, names.high, names.low), "rail")]
    for i, r in enumerate(regions):
        if not undefined(r["rate"]):
            style = "fill2" if r["kind"] == "all" else "fill0"
            words = f"{_brief(r['events'])} of {_brief(r['eligible'])}"
            note = f"{r['name']}: {count(r['events'])} of {count(r['eligible'])} wrong"
            layers.append(Area(box(0, r["rate"], i + 0.12, i + 0.88), style, note=note))
            layers.append(Line([(r["low"], i + 0.5), (r["high"], i + 0.5)], "whisker ink"))
            layers.append(Text((scale, i + 0.5), words, "margin"))
    layers += [Line([(v, 0), (v, len(regions))], "rule strong") for v in usual]
    return Chart(
        titles.region_title(regions),
        Axis("wrong among confident predictions", 0, scale, rate, round_values(0, scale, wanted=3)),
        names,
        layers,
    )


def conflict_chart(slices: Records, best: dict[str, Any] | None, pair: tuple[str, str]) -> Chart:
    """Return the excess of confident errors over a pair of signals, of evidence and instability.

    A cell is the slice with evidence at most, and instability at least, the values at its sides;
    bold where it holds more errors than rows of the same confidence, framed if it is the best.
    """
    pairs = dict.fromkeys((s["evidence"], s["instability"]) for s in slices)
    if not pairs:
        raise InputError("there is no map to draw: too few predictions are confident.")
    if pair not in pairs:
        known = "; ".join(f"{first!r} with {second!r}" for first, second in pairs)
        raise InputError(f"there is no map of {pair[0]!r} with {pair[1]!r}: choose {known}.")
    shown = [s for s in slices if (s["evidence"], s["instability"]) == pair]
    across = sorted({s["evidence_at_most"] for s in shown})
    up = sorted({s["instability_at_least"] for s in shown})
    reach = max(abs(s["gamma"]) for s in shown) or 1.0
    layers: Layers = []
    for s in shown:
        x, y = across.index(s["evidence_at_most"]), up.index(s["instability_at_least"])
        cell = box(x + 0.01, x + 0.99, y + 0.02, y + 0.98)
        heat = "heat warm" if s["gamma"] >= 0 else "heat cool"
        note = f"{count(s['events'])} of {count(s['rows'])} confident predictions wrong"
        opacity = 0.08 + 0.6 * abs(s["gamma"]) / reach
        sure = not undefined(s["excess_low"]) and s["excess_low"] > 0
        large, wrong, rows = f"{100 * s['gamma']:+.1f}", _brief(s["events"]), _brief(s["rows"])
        layers += [
            Area(cell, heat, note=note, opacity=round(opacity, 2)),
            Text((x + 0.5, y + 0.76), large, "over", "cell sure" if sure else "cell"),
            Text((x + 0.5, y + 0.46), f"{wrong} of", "over", "cell small"),
            Text((x + 0.5, y + 0.2), rows, "over", "cell small"),
        ]
        if s == best:
            layers.append(Line([*cell, cell[0]], "frame"))
    evidence, instability = (CONFLICT_WORDS[name] for name in pair)
    x_label = f"{evidence} at most (weak evidence to the left)"
    return Chart(
        "Excess of confident errors in percentage points, and how many were wrong",
        Axis(x_label, 0, len(across), names=[f"{value:.2g}" for value in across]),
        Axis(f"{instability} at least", 0, len(up), names=[f"{value:.2g}" for value in up]),
        layers,
    )


def signal_chart(signals: Records) -> Chart:
    """Return how well each signal alone tells confident errors apart."""
    rows = [(s["meaning"], s["auroc"], s["low"], s["high"]) for s in signals]
    label = "AUROC among confident predictions (0.5 is chance)"
    return _intervals(titles.signal_title(signals), label, rows, 0.5)


def contribution_chart(families: Records) -> Chart:
    """Return what the ranking loses without each family of signals."""
    rows = [(f["family"], f["loss"], f["low"], f["high"]) for f in families]
    return _intervals(titles.contribution_title(families), "loss of AUROC without it", rows, 0.0)


def calibration_chart(methods: Records) -> Chart:
    """Return each measure as a share of what it was by the first method: below 1 is better.

    Where that was 0 there is no share, and the figure alone shows.
    """
    before, width = methods[0], 0.92 / len(methods)
    shares = [m[key] / before[key] for m in methods for key in MEASURES if before[key]]
    top = 1.02 * max([1.0, *shares])
    layers: Layers = [Line([(1, 0), (1, len(MEASURES))], "rule strong")]
    for i, (method, style) in reversed(list(enumerate(zip(methods, METHOD_STYLES, strict=True)))):
        for k, (key, label) in enumerate(MEASURES.items()):
            high, value = k + 0.04 + i * width, method[key]
            note = f"{method['method']}: {label} {_short(value)}"
            layers.append(Text((top, high + width / 2), _short(value), "margin"))
            if before[key]:
                bar = box(0, value / before[key], high, high + width)
                layers.append(Area(bar, style, method["method"], note))
    return Chart(
        titles.calibration_title(methods),
        Axis("relative to before (below 1 is better)", 0, top),
        _list(list(MEASURES.values()), lines=len(methods)),
        layers,
    )


def period_chart(periods: Records) -> Chart:
    """Return the rate of confident errors by period, each with its interval."""
    known = [(i + 0.5, p) for i, p in enumerate(periods) if not undefined(p["rate"])]
    top = 1.1 * max([p["high"] for _, p in known], default=0.0) or 1.0
    notes = {
        i: f"{p['period']}: {count(p['events'])} of {count(p['eligible'])} wrong"
        for i, (_, p) in enumerate(known)
    }
    names = few([p["period"] for p in periods], PERIOD_NAMES)
    return Chart(
        titles.period_title(periods),
        Axis("period", 0, len(periods), names=names),
        Axis("wrong among confident predictions", 0, top, rate),
        [
            *(Line([(x, p[k]) for k in ("low", "high")], "whisker c1") for x, p in known),
            Line([(x, p["rate"]) for x, p in known], "c1 plain", "rate, 95% interval", notes),
        ],
    )


def _budget_rule(budget: float | None, top: float) -> Layers:
    if budget is None:
        return []
    return [Line([(budget, 0), (budget, top)], "rule", f"the review list, {percent(budget)}")]


def _band(lines: Records, style: str, name: str = "") -> Area:
    known = [line for line in lines if not undefined(line["low"])]
    low, high = ([(line["budget"], line[key]) for line in known] for key in ("low", "high"))
    return Area([(0.0, 0.0), *low, *high[::-1]], style, name)


def _intervals(
    title: str, label: str, rows: Sequence[tuple[str, float, float, float]], nothing: float
) -> Chart:
    """Return values with their intervals, one line each; the rule is where nothing is gained."""
    known = [v for _, *values in rows for v in values if not undefined(v)] + [nothing]
    margin = 0.04 * (max(known) - min(known)) or 0.5
    low, high = min(known) - margin, max(known) + margin
    layers: Layers = [Line([(nothing, 0), (nothing, len(rows))], "rule strong")]
    for i, (_, value, least, most) in enumerate(rows):
        if not undefined(least):
            layers.append(Line([(least, i + 0.5), (most, i + 0.5)], "whisker c1"))
        if not undefined(value):
            layers.append(Line([(value, i + 0.5)], "c1 single", notes={0: number(value)}))
    axis = Axis(label, low, high, at=round_values(low, high, wanted=4))
    return Chart(title, axis, _list([name for name, *_ in rows]), layers)


def _list(names: list[str], lines: int = 1) -> Axis:
    """Return an axis of names from the top down."""
    return Axis("", max(len(names), 1), 0, names=names, lines=lines)


def _brief(value: float, least: float = 100_000) -> str:
    """Return a count, from `least` on in few characters: `900`, `148k`, `3.1M`."""
    if value < least:
        return count(value)
    size, unit = (1e6, "M") if value >= 999_500 else (1e3, "k")
    return f"{value / size:.3g}{unit}"


def _short(value: float) -> str:
    """Return a figure in few characters: `0.274`, `0.0085`, `12.5`, `1,204`."""
    return amount(value) if value >= 1 else number(value, 3 if value >= 0.1 else 4)
