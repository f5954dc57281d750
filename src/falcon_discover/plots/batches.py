"""Charts of a batch report: what to expect, and what changed since the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from falcon_discover.plots.chart import Area, Axis, Chart, Line, Text, box
from falcon_discover.plots.charts import Layers, Records
from falcon_discover.plots.matplotlib import draw
from falcon_discover.runtime.format import count
from falcon_discover.runtime.words import percent

if TYPE_CHECKING:
    from falcon_discover.monitoring.batch import BatchReport

FIGURES = ("errors", "drift")
# More lines than this are not read.
MOST_LINES = 15


def errors_chart(lines: Records, confidence_level: float) -> Chart:
    """Return confident errors to expect, with intervals, beside the model's own."""
    names = [line["name"] for line in lines]
    top = max([line["errors_high"] for line in lines] + [line["promised"] for line in lines] + [1])
    layers: Layers = [Area(box(0, top, len(names), 0), "rail")]
    for i, line in enumerate(lines):
        # One bar of each kind is in the legend.
        first = i == 0
        layers += [
            Area(box(0, line["errors"], i + 0.12, i + 0.5), "fill0", "expected" if first else ""),
            Area(
                box(0, line["promised"], i + 0.54, i + 0.8),
                "fill2",
                "by the model's own confidence" if first else "",
            ),
            Line([(line["errors_low"], i + 0.31), (line["errors_high"], i + 0.31)], "whisker ink"),
            Text((top, i + 0.31), f"of {count(line['eligible'])}", "margin"),
        ]
    return Chart(
        f"Confident errors to expect, with {percent(confidence_level)} intervals",
        Axis("confident errors", 0, top),
        Axis("", len(names), 0, names=names),
        layers,
    )


def drift_chart(lines: Records) -> Chart:
    """Return how far each column, signal and the predictions are from the audited rows."""
    shown = lines[:MOST_LINES]
    names = [f"{line['name']} ({line['what']})" for line in shown]
    top = max([line["distance"] for line in shown] + [0.1])
    layers: Layers = [Area(box(0, top, len(names), 0), "rail")]
    for i, line in enumerate(shown):
        style = "fill0" if line["changed"] else "fill2"
        layers.append(Area(box(0, line["distance"], i + 0.15, i + 0.85), style))
        layers.append(Text((top, i + 0.5), f"{line['distance']:.2f}", "margin"))
    changed = sum(bool(line["changed"]) for line in lines)
    return Chart(
        f"Changed since the audit: {changed} of {len(lines)}",
        Axis("distance from the audited rows (0: alike, 1: nothing in common)", 0, top),
        Axis("", len(names), 0, names=names),
        layers,
    )


class BatchPlots:
    """The figures of a batch report; each method draws one and returns its matplotlib axes.

    Every method takes `axes` to draw into; without it a new figure is made.
    """

    def __init__(self, report: BatchReport) -> None:
        self._report = report

    def errors(self, axes: Any = None) -> Any:
        """Draw confident errors to expect, by predicted class and in all."""
        report = self._report
        classes = report.classes.rename(columns={"predicted": "name"}).to_dict("records")
        lines = [
            {**report.frame().iloc[0].to_dict(), "name": "all predictions"},
            *({**line, "name": f"predicted {line['name']}"} for line in classes),
        ]
        return draw(errors_chart(lines, report.confidence_level), axes)

    def drift(self, axes: Any = None) -> Any:
        """Draw what changed since the audit, largest change first."""
        return draw(drift_chart(self._report.drift.to_dict("records")), axes)

    def __repr__(self) -> str:
        return f"figures of a batch of {self._report.rows:,} rows: {', '.join(FIGURES)}"
