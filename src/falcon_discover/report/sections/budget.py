"""How much review is enough."""

from __future__ import annotations

from typing import Any

from falcon_discover.plots.charts import capture_chart, missed_chart
from falcon_discover.plots.style import ranker_name
from falcon_discover.report.labels import FIGURES
from falcon_discover.report.page import Figure, Grid, Section, Summary, column, lines, thinned
from falcon_discover.report.svg import svg
from falcon_discover.report.text import say
from falcon_discover.runtime.format import between, count, interval, number, share
from falcon_discover.runtime.words import budget_words, counted, is_count, rate


def budget_section(summary: Summary) -> Section:
    """Return how much review is enough."""
    evaluation, curves = summary["evaluation"], summary["curves"]
    lead = lines((summary["guarantee"] or summary["missed"])["statement"])
    if not summary["eligible"]["errors"]:
        return Section.named("budget", lead, figures=[_missed(summary)])
    budgets = sorted({line["budget"] for line in own_captures(summary)})
    main = [c for c in evaluation["captures"] if c["tau"] == evaluation["tau"]]
    names = list(dict.fromkeys(c["ranker"] for c in main))
    words = say(
        "budget.capture",
        found="; ".join(
            say(
                "budget.capture.one",
                budget=budget_words(c["budget"]),
                captured=counted(c["captured"]),
                events=count(c["events"]),
            )
            for c in own_captures(summary)
        ),
    )
    known = {(c["ranker"], c["budget"]): c for c in main}
    ranks = {r["ranker"]: r for r in evaluation["rankings"] if r["tau"] == evaluation["tau"]}
    columns = {"ranking": [ranker_name(name) for name in names]}
    for budget in budgets:
        columns[f"riskiest {budget_words(budget)}"] = [
            f"{count(known[name, budget]['captured'])} "
            f"({share(known[name, budget]['capture'])}; "
            f"{interval(known[name, budget]['capture_low'], known[name, budget]['capture_high'])})"
            for name in names
        ]
    columns["AUROC"] = [
        f"{number(ranks[n]['eligible_auroc'])} "
        f"({between(ranks[n]['eligible_auroc_low'], ranks[n]['eligible_auroc_high'])})"
        for n in names
    ]
    budget = _share(summary)
    chart = svg(capture_chart(curves["capture"], curves["random_band"], budget), "capture", words)
    figure = Figure("capture", FIGURES["capture"], words, chart, Grid.named("capture", columns))
    grids = [] if "cost" not in main[0] else [_costs(main, budgets, names)]
    return Section.named("budget", lead, figures=[figure, _missed(summary)], grids=grids)


def _costs(main: list[dict[str, Any]], budgets: list[float], names: list[str]) -> Grid:
    """Return which share of the cost of confident errors is found."""
    known = {(c["ranker"], c["budget"]): c for c in main}
    columns = {"ranking": [ranker_name(name) for name in names]}
    for budget in budgets:
        columns[f"riskiest {budget_words(budget)}"] = [
            share(known[name, budget]["captured_cost"]) for name in names
        ]
    total = number(main[0]["cost"], 0)
    return Grid.named("costs", columns, total=total)


def _share(summary: Summary) -> float:
    """Return the share of the rows that the review list holds."""
    budget, review = summary["settings"]["budget"], summary["review"]
    return review["listed"] / review["audited"] if is_count(budget) else budget


def _missed(summary: Summary) -> Figure:
    curve, budget = summary["curves"]["missed"], _share(summary)
    missed = summary["missed"]
    words = say(
        "budget.missed",
        budget=budget_words(missed["budget"]),
        rate=rate(missed["rate"]),
        assumed=missed["assumed"],
    )
    shown = thinned(curve)
    grid = Grid.named(
        "missed",
        {
            "reviewed": column(shown, share, "budget"),
            "rows left": column(shown, count, "unreviewed"),
            "confident errors left": column(shown, count, "missed"),
            "rate": column(shown, lambda v: share(v, 3), "rate"),
            "upper bound, for this budget alone": column(shown, lambda v: share(v, 3), "upper"),
            "upper bound, for all budgets": column(shown, lambda v: share(v, 3), "band"),
        },
    )
    chart = svg(missed_chart(curve, budget), "missed", words)
    return Figure("missed", FIGURES["missed"], words, chart, grid)


def own_captures(summary: Summary) -> list[dict[str, Any]]:
    """Return what the ranker in question finds, by budget."""
    evaluation = summary["evaluation"]
    return [
        line
        for line in evaluation["captures"]
        if line["ranker"] == evaluation["ranker"] and line["tau"] == evaluation["tau"]
    ]
