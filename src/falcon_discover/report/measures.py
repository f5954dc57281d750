"""The later sections of a report: budgets, calibration, signals, and what it does not say."""

from __future__ import annotations

from typing import Any

from falcon_discover.evaluation.budget import ASSUMED
from falcon_discover.evaluation.curves.recalibration import CAUTIOUS
from falcon_discover.plots.style import ranker_name
from falcon_discover.report.charts import (
    capture_chart,
    change_chart,
    confidence_chart,
    interval_chart,
    missed_chart,
    reliability_chart,
)
from falcon_discover.report.format import (
    amount,
    between,
    count,
    interval,
    number,
    share,
    text,
    undefined,
)
from falcon_discover.report.page import Figure, Grid, Section, Summary, column, lines, thinned
from falcon_discover.report.sections import own_captures, score_words
from falcon_discover.runtime.words import counted, percent, rate

MEASURES = {"nll": "log loss", "brier": "Brier score", "ece": "ECE",
            "errors_at_coverage": "errors at equal coverage"}  # fmt: skip
METHODS = {CAUTIOUS: "discrepancy, caution auto"}


def budget_section(summary: Summary) -> Section:
    """Return how much review is enough."""
    title = "How much review is enough"
    evaluation, curves = summary["evaluation"], summary["curves"]
    if evaluation is None:
        return Section("budget", title, "How much", ["The labels of these rows are not known."])
    lead = lines((summary["guarantee"] or summary["missed"])["statement"])
    if not summary["eligible"]["errors"]:
        return Section("budget", title, "How much", lead, figures=[_missed(summary)])
    budgets = sorted({line["budget"] for line in own_captures(summary)})
    main = [c for c in evaluation["captures"] if c["tau"] == evaluation["tau"]]
    names = list(dict.fromkeys(c["ranker"] for c in main))
    words = "; ".join(
        f"the top {percent(c['budget'])} by {ranker_name(evaluation['ranker'])} finds "
        f"{counted(c['captured'])} of {count(c['events'])}"
        for c in own_captures(summary)
    )
    words = f"{words[0].upper()}{words[1:]}. Random review finds a share equal to the budget."
    known = {(c["ranker"], c["budget"]): c for c in main}
    ranks = {r["ranker"]: r for r in evaluation["rankings"] if r["tau"] == evaluation["tau"]}
    columns = {"ranker": [ranker_name(name) for name in names]}
    for budget in budgets:
        columns[f"top {percent(budget)}"] = [
            f"{count(known[name, budget]['captured'])} "
            f"({share(known[name, budget]['capture'])}; "
            f"{interval(known[name, budget]['capture_low'], known[name, budget]['capture_high'])})"
            for name in names
        ]
    columns["eligible AUROC"] = [
        f"{number(ranks[n]['eligible_auroc'])} "
        f"({between(ranks[n]['eligible_auroc_low'], ranks[n]['eligible_auroc_high'])})"
        for n in names
    ]
    caption = (
        "Confident errors found by ranker: number, share and its 95 % interval; AUROC among "
        "confident predictions"
    )
    budget = summary["settings"]["budget"]
    chart = capture_chart(curves["capture"], curves["random_band"], budget, words)
    figure = Figure("capture", "Found by review budget", words, chart, Grid.of(caption, columns))
    return Section("budget", title, "How much", lead, figures=[figure, _missed(summary)])


def _missed(summary: Summary) -> Figure:
    curve, budget = summary["curves"]["missed"], summary["settings"]["budget"]
    missed = summary["missed"]
    words = (
        f"Reading the top {percent(missed['budget'])} leaves {rate(missed['rate'])} wrong among "
        "the rest. The upper band holds for all budgets at once with 95% confidence, in the long "
        f"run and {ASSUMED}: a budget may be read off it. For one named beforehand the bound is "
        "lower."
    )
    shown = thinned(curve)
    grid = Grid.of(
        "Confident errors among rows left unread, by review budget",
        {
            "reviewed": column(shown, share, "budget"),
            "rows left": column(shown, count, "unreviewed"),
            "confident errors left": column(shown, count, "missed"),
            "rate": column(shown, lambda v: share(v, 3), "rate"),
            "upper bound, this budget named beforehand": column(
                shown, lambda v: share(v, 3), "upper"
            ),
            "upper band, any budget": column(shown, lambda v: share(v, 3), "band"),
        },
    )
    chart = missed_chart(curve, budget, words)
    return Figure("missed", "Left unread by review budget", words, chart, grid)


def calibrated_section(summary: Summary) -> Section:
    """Return whether the model is calibrated at all."""
    curves, tau, sure = summary["curves"], summary["settings"]["tau"], summary["eligible"]
    figures = []
    lead = []
    if curves["reliability"]:
        lead.append(_calibration_words(summary))
        bins = curves["reliability"]
        last = bins[-1]
        words = (
            f"In the surest bin, {share(last['from'], 0)} to {share(last['to'], 0)}, the model is "
            f"{share(last['confidence'])} sure on average and right in {share(last['accuracy'])} "
            f"({interval(last['low'], last['high'])}) of {count(last['rows'])} cases."
        )
        grid = Grid.of(
            "Right predictions by confidence",
            {
                "confidence": [f"{share(b['from'], 0)} to {share(b['to'], 0)}" for b in bins],
                "rows": column(bins, count, "rows"),
                "mean confidence": column(bins, share, "confidence"),
                "right": column(bins, share, "accuracy"),
                "95 % interval": column(bins, interval, "low", "high"),
            },
        )
        chart = reliability_chart(bins, words)
        figures.append(Figure("reliability", "As sure as right?", words, chart, grid))
    bins = curves["confidence"]
    words = (
        f"{count(sure['rows'])} of {count(summary['data']['audited'])} predictions are at least "
        f"{percent(tau)} sure; only they can be confident errors."
    )
    labelled = "wrong" in bins[0]
    grid = Grid.of(
        "Predictions by confidence",
        {
            "confidence": [f"{share(b['from'])} to {share(b['to'])}" for b in bins],
            "rows": column(bins, count, "rows"),
            **({"wrong": column(bins, count, "wrong")} if labelled else {}),
            "eligible": ["yes" if b["eligible"] else "no" for b in bins],
        },
    )
    chart = confidence_chart(bins, tau, words)
    figures.append(Figure("confidence", "How sure it is", words, chart, grid))
    title = "Is the model calibrated at all"
    return Section("calibrated", title, "Calibrated?", lead, figures=figures)


def _calibration_words(summary: Summary) -> str:
    sure, model = summary["eligible"], summary["evaluation"]["model"]
    tau = summary["settings"]["tau"]
    head = (
        f"The model is right in {share(model['accuracy'])} of all cases; its AUROC is "
        f"{number(model['auroc'])}, its expected calibration error {number(model['ece'])}."
    )
    if not sure["rows"]:
        return head
    return (
        f"{head} Where it is at least {percent(tau)} sure, its own confidence promises "
        f"{sure['promised_errors']:,.0f} errors; there were {count(sure['errors'])}."
    )


def signals_section(summary: Summary) -> Section:
    """Return what each signal earns."""
    title = "What each signal earns"
    signals, earned = summary["curves"]["signals"], summary["contributions"]
    if not signals or all(undefined(s["auroc"]) for s in signals):
        reason = summary["left_out"].get("contributions", "There are too few confident errors.")
        return Section("signals", title, "Signals", [reason])
    best = signals[0]
    words = (
        "Eligible AUROC of each signal by itself: 1 puts all confident errors first, 0.5 is "
        f"chance. The strongest here: {best['meaning']} ({number(best['auroc'])}, 95 % interval "
        f"{between(best['low'], best['high'])})."
    )
    grid = Grid.of(
        "Each signal alone, among confident predictions",
        {
            "signal": column(signals, str, "meaning"),
            "family": column(signals, str, "family"),
            "eligible AUROC": column(signals, number, "auroc"),
            "95 % interval": column(signals, between, "low", "high"),
        },
    )
    rows = [(s["meaning"], s["auroc"], s["low"], s["high"]) for s in signals]
    axis = "eligible AUROC"
    chart = interval_chart("signals", "Each signal alone", rows, 0.5, axis, words)
    figures = [Figure("signals", "Each signal alone", words, chart, grid)]
    lead = []
    points = []
    if earned is not None and earned["families"]:
        lead.append(earned["words"])
        figures.append(_contributions(earned))
    elif earned is not None:
        lead.append(earned["words"])
    elif "contributions" in summary["left_out"]:
        points.append(summary["left_out"]["contributions"])
    return Section("signals", title, "Signals", lead, figures=figures, points=points)


def _contributions(earned: dict[str, Any]) -> Figure:
    families = earned["families"]
    words = (
        "What the ranking loses in eligible AUROC when one family of signals is left out; where "
        "the interval includes 0 the others make up for it. The intervals hold together."
    )
    grid = Grid.of(
        "Loss without each family of signals",
        {
            "family": column(families, str, "family"),
            "what it is": column(families, str, "what"),
            "AUROC without": column(families, number, "auroc_without"),
            "loss": column(families, number, "loss"),
            "95 % interval": column(families, between, "low", "high"),
        },
    )
    rows = [(f["family"], f["loss"], f["low"], f["high"]) for f in families]
    title = "Loss without each family"
    chart = interval_chart("contributions", title, rows, 0.0, "loss in eligible AUROC", words)
    return Figure("contributions", title, words, chart, grid)


def recalibration_section(summary: Summary) -> Section:
    """Return calibration before and after."""
    title = "Calibration before and after"
    found = summary["calibration"]
    if found is None:
        return Section(
            "recalibration", title, "Before and after", [summary["left_out"]["calibration"]]
        )
    methods = found["methods"]
    drawn = [m for m in methods if m["method"] != CAUTIOUS]
    before, after = drawn[0], drawn[-1]
    words = (
        f"Log loss {number(before['nll'], 4)} before, {number(after['nll'], 4)} after the "
        "calibration that uses the evidence (discrepancy). Before, "
        f"{count(before['confident'])} predictions are at least {percent(found['tau'])} sure; "
        f"among as many of the surest, {amount(before['errors_at_coverage'])} are wrong before, "
        f"{amount(after['errors_at_coverage'])} after."
    )
    price = (
        "Equal coverage: errors among as many of the surest predictions as are confident before; "
        "rows of equal confidence count by their share. Confident errors alone do not compare "
        "methods that are sure of different numbers of rows. Caution makes confident errors fewer "
        "by making fewer predictions confident, at the price of worse calibration."
    )
    grid = Grid.of(
        "Calibration before and after",
        {
            "method": [METHODS.get(m["method"], m["method"]) for m in methods],
            "log loss": column(methods, lambda v: number(v, 4), "nll"),
            "Brier score": column(methods, lambda v: number(v, 4), "brier"),
            "ECE": column(methods, lambda v: number(v, 4), "ece"),
            "AUROC": column(methods, number, "auroc"),
            "accuracy": column(methods, share, "accuracy"),
            "confident": column(methods, count, "confident"),
            "confident errors": column(methods, count, "confident_errors"),
            "rate and 95 % interval": [
                f"{share(m['rate'])} ({interval(m['low'], m['high'])})" for m in methods
            ],
            "errors at equal coverage": column(methods, amount, "errors_at_coverage"),
        },
    )
    chart = change_chart(drawn, MEASURES, words)
    figure = Figure("change", "Relative to before", words, chart, grid)
    lead, short = [found["words"]], "Before and after"
    return Section("recalibration", title, short, lead, figures=[figure], points=[price])


def about_section(summary: Summary) -> Section:
    """Return data, settings and versions."""
    data, how = summary["data"], summary["how"]
    about = {
        "data": data["name"],
        "rows": f"{count(data['rows'])}, {count(data['audited'])} of them audited",
        "features": count(data["features"]),
        "target": data["target"],
        "classes": " / ".join(text(label) for label in data["classes"]),
        "score": score_words(data).removeprefix("score = "),
        **{name: value for name, value in how.items() if name not in ("candidates", "rows")},
        "which rows": how.get("rows"),
        **summary["settings"],
        **summary["versions"],
        "made": f"{summary['created']}, in {number(summary['seconds'], 1)} s",
    }
    shown = {name: value for name, value in about.items() if value not in (None, "")}
    grid = Grid(
        "Data, settings, versions",
        ("what", "value"),
        [(text(name), text(value, 300)) for name, value in shown.items()],
    )
    title = "Data, settings, versions"
    told = list(summary["alerts"])
    if summary["evaluation"] is not None:
        told.append(summary["evaluation"]["sides"]["notice"])
    points = [note for note in summary["notes"] if note not in told]
    return Section("about", title, "Data", grids=[grid], points=points)


def limits_section(summary: Summary) -> Section:
    """Return what the report does not say."""
    sure = summary["eligible"]
    points = []
    mode = summary["how"].get("mode", "")
    if mode != "backbone":
        points.append(
            "It holds only if the model was not trained on these rows. On rows it has learned "
            "from, its errors are not there to be found, and everything here looks better than "
            "it is. No tool can see that from the rows alone."
        )
    if sure["errors"] is not None and sure["errors"] < 30:
        points.append(
            f"There are only {count(sure['errors'])} confident errors: shares of so few mean "
            "little by themselves. Read the intervals."
        )
    points += [
        "It speaks of rows like these, each drawn independently: not of copies, nor of many rows "
        "of one person or device, which tell less than their number says.",
        "When the population, the features or the meaning of the "
        "label drift, rates and bounds no longer hold: audit again on fresh rows.",
        "A label that is itself wrong counts as an error of the model. Part of what a review "
        "finds is usually errors of the labels.",
        "A region says where errors are frequent, not what causes them, and not that a group is "
        "treated unfairly; regions hold right predictions too.",
        "Errors below the threshold are not counted here, however many there are.",
        "Each interval holds by itself with 95 % confidence; of twenty, one may miss.",
        "Suspicion ranks rows for review. It is no reason to overturn a decision unread.",
    ]
    return Section("limits", "What this does not say", "Limits", points=points)
