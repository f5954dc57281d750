"""The report's charts, each from the summary's own numbers."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from falcon_discover.plots.style import ranker_name
from falcon_discover.report.format import amount, count, number, share, undefined
from falcon_discover.report.svg import LINE_HEIGHT, WIDTH, Board, ticks, wrapped
from falcon_discover.runtime.words import percent, rate
from falcon_discover.signals.catalogue import CONFLICT_WORDS

Record = dict[str, Any]
# Class and marker by ranker; the ranker in question has its own.
LINES = {
    "gated_confidence": ("c1", "square"),
    "s_disc": ("c2", "up"),
    "s_stab": ("c3", "down"),
    "confidence": ("c4", "diamond"),
}
OWN = ("c0", "circle")
OTHER = ("c5", "cross")
MARK_EVERY = 6


def capture_chart(capture: list[Record], band: list[Record], budget: float, words: str) -> Markup:
    """Draw what each ranker finds by budget, over the band of random review."""
    board = Board((0, 1), (0, 1), height=310)
    board.axes(
        "share of the rows reviewed", "confident errors found",
        x_ticks=[0, 0.2, 0.4, 0.6, 0.8, 1], y_ticks=[0, 0.25, 0.5, 0.75, 1],
        x_words=percent, y_words=percent,
    )  # fmt: skip
    zero = [(0.0, 0.0)]
    board.band(
        [*zero, *((b["budget"], b["low"]) for b in band)],
        [*zero, *((b["budget"], b["high"]) for b in band)],
        "muted",
    )
    names = list(dict.fromkeys(line["ranker"] for line in capture))
    styles = {name: LINES.get(name, OTHER) for name in names} | {names[0]: OWN}
    board.line([(budget, 0), (budget, 1)], "rule")
    for name in reversed(names):
        points = [line for line in capture if line["ranker"] == name]
        kind, shape = styles[name]
        board.line([*zero, *((p["budget"], p["capture"]) for p in points)], kind)
        for p in points[2::MARK_EVERY]:
            note = f"{ranker_name(name)}: top {percent(p['budget'])} finds {count(p['captured'])}"
            board.mark(p["budget"], p["capture"], shape, kind, note)
    entries = [(ranker_name(name), *styles[name]) for name in names]
    board.legend(
        [*entries, ("random review, 95 %", "band muted", "band"), ("the review list", "rule", "")]
    )
    return board.svg("capture", "Confident errors found by review budget", words)


def missed_chart(missed: list[Record], budget: float, words: str) -> Markup:
    """Draw the rate of confident errors among unread rows, and the upper band of all budgets."""
    shown = [m for m in missed if m["unreviewed"] > 0]
    # With hardly a row left no bound means anything: the scale follows the first budgets.
    top = max(1e-9, 1.15 * max(m["band"] for m in shown if m["budget"] <= 0.5))
    shown = [m for m in shown if m["band"] <= top]
    board = Board((0, 1), (0, top), left=62)
    board.axes(
        "share of the rows reviewed", "wrong among unread rows",
        x_ticks=[0, 0.2, 0.4, 0.6, 0.8, 1], x_words=percent,
        y_words=lambda v: rate(v) if v else "0 %",
    )  # fmt: skip
    board.line([(budget, 0), (budget, top)], "rule")
    for key, kind, shape in (("band", "c0 dashed", "down"), ("rate", "c1 plain", "circle")):
        board.line([(m["budget"], m[key]) for m in shown], kind)
        for m in shown[::MARK_EVERY]:
            board.mark(
                m["budget"], m[key], shape, kind,
                f"top {percent(m['budget'])} read: {rate(m[key])} of the rest",
            )  # fmt: skip
    board.legend(
        [
            ("95% upper band, any budget", "c0 dashed", "down"),
            ("observed", "c1 plain", "circle"),
            ("the review list", "rule", ""),
        ],
        columns=3,
    )
    return board.svg("missed", "Confident errors left unread by review budget", words)


def reliability_chart(bins: list[Record], words: str) -> Markup:
    """Draw the share of right predictions against the confidence."""
    foot = min([0.5, *(b["low"] for b in bins)])
    foot = 0.1 * int(10 * foot + 1e-9)
    board = Board((0.5, 1), (foot, 1), height=320)
    board.axes(
        "mean confidence", "share of right predictions",
        x_ticks=[0.5, 0.6, 0.7, 0.8, 0.9, 1], y_ticks=ticks(foot, 1.0),
        x_words=percent, y_words=percent,
    )  # fmt: skip
    board.line([(0.5, 0.5), (1, 1)], "rule")
    board.line([(b["confidence"], b["accuracy"]) for b in bins], "c1 plain")
    for b in bins:
        board.whisker((b["confidence"], b["low"]), (b["confidence"], b["high"]), "c1")
        note = f"{count(b['right'])} of {count(b['rows'])} right at {share(b['confidence'])}"
        board.mark(b["confidence"], b["accuracy"], "circle", "c1", note)
    board.legend(
        [("the model, 95 % interval", "c1 plain", "circle"), ("as sure as right", "rule", "")]
    )
    return board.svg("reliability", "Reliability diagram", words)


def confidence_chart(bins: list[Record], tau: float, words: str) -> Markup:
    """Draw the rows by confidence, wrong ones hatched, the eligible part marked."""
    most = max([b["rows"] for b in bins] + [1])
    powers = [10**k for k in range(len(str(most)) + 1)]
    top = next(p for p in powers if p >= most)
    board = Board((0.5, 1), (0.7, max(top, 10)), height=320, left=62, top=26, log=True)
    board.add(
        '<rect class="eligible" x="{x}" y="{y}" width="{w}" height="{h}"/>',
        x=board.x(tau), y=board.top, w=board.right - board.x(tau), h=board.bottom - board.top,
    )  # fmt: skip
    board.axes(
        "confidence", "rows (log scale)", x_ticks=[0.5, 0.6, 0.7, 0.8, 0.9, 1], x_words=percent,
        y_ticks=[p for p in powers if p <= top], y_words=count,
    )  # fmt: skip
    for b in bins:
        where = (b["from"], b["to"])
        note = f"{share(b['from'])} to {share(b['to'])}: {count(b['rows'])} rows"
        wrong = b.get("wrong")
        note += "" if undefined(wrong) else f", {count(wrong)} wrong"
        if b["rows"]:
            board.bar(where, (0.7, b["rows"]), "fill1", note)
        if wrong:
            board.bar(where, (0.7, wrong), "fill0", note)
            board.bar(where, (0.7, wrong), "hatch", note)
    board.line([(tau, 0.7), (tau, board.y_range[1])], "rule strong")
    board.words(board.right, board.top - 8, f"eligible: at least {percent(tau)}", anchor="end")
    labelled = any(not undefined(b.get("wrong")) for b in bins)
    entries = [("all predictions", "fill1", "band")]
    board.legend([*entries, ("wrong ones", "fill0", "band")] if labelled else entries)
    return board.svg("confidence", "Predictions by confidence", words)


def region_bar(region: Record, scale: float, usual: float | None, name: str) -> Markup:
    """Draw one region's rate and interval on a scale that all regions share."""
    board = Board((0, scale), (0, 1), height=24, left=2, right=2, top=2, bottom=2)
    text = (
        f"{share(region['rate'])} wrong, 95 % interval "
        f"{share(region['low'])} to {share(region['high'])}"
    )
    board.bar((0, scale), (0, 1), "rail")
    if not undefined(region["rate"]):
        board.bar(
            (0, region["rate"]), (0.12, 0.88), "fill2" if region["kind"] == "all" else "fill0"
        )
        board.whisker((region["low"], 0.5), (region["high"], 0.5))
    if usual is not None:
        board.line([(usual, 0), (usual, 1)], "rule strong")
    return board.svg(name, "Rate of confident errors", text)


def interval_chart(
    name: str, title: str, rows: list[tuple[str, float, float, float]], nothing: float, axis: str,
    words: str,
) -> Markup:  # fmt: skip
    """Draw values with their intervals, one line each; the rule is where nothing is gained."""
    left = 196
    lines = [wrapped(label, left - 16) for label, *_ in rows]
    step = [max(1, len(parts)) * (LINE_HEIGHT - 2) + 6 for parts in lines]
    known = [v for _, *values in rows for v in values if not undefined(v)] + [nothing]
    margin = 0.04 * (max(known) - min(known)) or 0.01
    span = (min(known) - margin, max(known) + margin)
    height = 12 + sum(step) + 44
    board = Board(span, (float(sum(step)), 0.0), height=height, left=left)
    inner = ticks(*span, wanted=4)
    for value in inner:
        board.add(
            '<line class="grid" x1="{x}" x2="{x}" y1="{a}" y2="{b}"/>',
            x=board.x(value), a=board.top, b=board.bottom,
        )  # fmt: skip
        board.words(board.x(value), board.bottom + 17, f"{value:g}", anchor="middle")
    middle = (board.left + board.right) / 2
    board.words(middle, board.bottom + 36, axis, anchor="middle", kind="label")
    board.line([(nothing, 0), (nothing, float(sum(step)))], "rule strong")
    at = 0.0
    for (_, value, low, high), parts, room in zip(rows, lines, step, strict=True):
        centre = at + room / 2
        for i, part in enumerate(parts):
            offset = (i - (len(parts) - 1) / 2) * (LINE_HEIGHT - 2)
            board.words(left - 10, board.y(centre) + 4 + offset, part, anchor="end")
        if not undefined(value):
            if not undefined(low):
                board.whisker((low, centre), (high, centre), "c1")
            board.mark(value, centre, "circle", "c1", number(value))
        at += room
    return board.svg(name, title, words)


def conflict_chart(slices: list[Record], best: Record | None, words: str) -> Markup:
    """Draw the excess rate of confident errors over evidence and instability."""
    across = sorted({s["evidence_at_most"] for s in slices})
    up = sorted({s["instability_at_least"] for s in slices})
    reach = max([abs(s["gamma"]) for s in slices]) or 1.0
    board = Board((0, len(across)), (0, len(up)), height=300, left=66)
    for s in slices:
        x, y = across.index(s["evidence_at_most"]), up.index(s["instability_at_least"])
        strength = abs(s["gamma"]) / reach
        kind = "heat warm" if s["gamma"] >= 0 else "heat cool"
        board.add(
            '<rect class="{k}" x="{x}" y="{y}" width="{w}" height="{h}" fill-opacity="{o}">'
            "<title>{t}</title></rect>",
            k=kind, x=board.x(x) + 1, y=board.y(y + 1) + 1, w=board.x(1) - board.x(0) - 2,
            h=board.y(0) - board.y(1) - 2, o=f"{0.08 + 0.6 * strength:.2f}",
            t=f"{count(s['events'])} of {count(s['rows'])} confident predictions wrong",
        )  # fmt: skip
        sure = not undefined(s["excess_low"]) and s["excess_low"] > 0
        style = "cell sure" if sure else "cell"
        middle = board.x(x + 0.5)
        board.words(middle, board.y(y + 0.5) - 2, f"{100 * s['gamma']:+.1f}", "middle", style)
        board.words(
            middle, board.y(y + 0.5) + 13, f"{s['events']}/{s['rows']}", "middle", "cell small"
        )
        if best is not None and s == best:
            board.add(
                '<rect class="frame" x="{x}" y="{y}" width="{w}" height="{h}"/>',
                x=board.x(x) + 1, y=board.y(y + 1) + 1, w=board.x(1) - board.x(0) - 2,
                h=board.y(0) - board.y(1) - 2,
            )  # fmt: skip
    for i, value in enumerate(across):
        board.words(board.x(i + 0.5), board.bottom + 17, f"{value:.2g}", "middle")
    for i, value in enumerate(up):
        board.words(board.left - 6, board.y(i + 0.5) + 4, f"{value:.2g}", "end")
    evidence, instability = (CONFLICT_WORDS[slices[0][k]] for k in ("evidence", "instability"))
    middle = (board.left + board.right) / 2
    board.words(
        middle, board.bottom + 36,
        f"{evidence} at most (weak evidence to the left)", "middle", "label",
    )  # fmt: skip
    board.add(
        '<text class="label" transform="translate(13 {y}) rotate(-90)" '
        'text-anchor="middle">{t}</text>',
        y=(board.top + board.bottom) / 2, t=f"{instability} at least",
    )  # fmt: skip
    return board.svg("conflict", "Excess of confident errors in percentage points", words)


def change_chart(methods: list[Record], measures: dict[str, str], words: str) -> Markup:
    """Draw each measure after recalibration as a share of what it was before."""
    before = methods[0]
    top = max([1.0] + [m[key] / before[key] for m in methods for key in measures if before[key]])
    board = Board((0, len(measures)), (0, 1.12 * top), height=300)
    board.axes("", "relative to before", x_ticks=[], y_words=lambda v: f"{v:g}")
    board.line([(0, 1), (len(measures), 1)], "rule strong")
    kinds = ("fill2", "fill1", "fill0")
    width = 0.8 / len(methods)
    for k, (key, label) in enumerate(measures.items()):
        for i, (method, kind) in enumerate(zip(methods, kinds, strict=True)):
            left = k + 0.1 + i * width
            height = method[key] / before[key] if before[key] else 0.0
            value = _short(method[key])
            note = f"{method['method']}: {label} {value}"
            board.bar((left, left + width), (0, height), kind, note, gap=1)
            if kind == "fill0":
                board.bar((left, left + width), (0, height), "hatch", note, gap=1)
            board.words(board.x(left + width / 2), board.y(height) - 4, value, "middle", "tiny")
        for i, part in enumerate(wrapped(label, WIDTH / 5)):
            board.words(board.x(k + 0.5), board.bottom + 17 + 14 * i, part, "middle")
    board.legend([(m["method"], k, "band") for m, k in zip(methods, kinds, strict=True)], 3)
    return board.svg("change", "Calibration before and after", words)


def _short(value: float) -> str:
    """Return a figure in few characters: `.274`, `.0085`, `12.5`, `1,204`."""
    if value >= 1:
        return amount(value)
    return number(value, 3 if value >= 0.1 else 4).lstrip("0") or "0"
