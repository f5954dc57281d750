"""What each chart says, as its title: one sentence with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from falcon_discover.runtime.format import count, number, undefined
from falcon_discover.runtime.words import counted, level, percent, rate
from falcon_discover.settings import PAPER

Records = list[dict[str, Any]]
NO_ERROR = "No confident error to find"
# A change of log loss by less than this share is not worth acting on.
LITTLE = 0.01


def capture_title(capture: Records, budget: float | None) -> str:
    """Return how many confident errors the ranker in question finds within a budget."""
    own = [c for c in capture if c["ranker"] == capture[0]["ranker"]]
    known = [c for c in own if not undefined(c["capture"])]
    if not known:
        return NO_ERROR
    near = _nearest(known, budget)
    return (
        f"Reviewing the riskiest {percent(near['budget'])} finds {counted(near['captured'])} of "
        f"{_errors(near['events'])} ({percent(near['capture'])})"
    )


def missed_title(missed: Records, budget: float | None) -> str:
    """Return how many confident errors a budget leaves."""
    if not missed:
        return "No prediction is left unreviewed"
    near = _nearest(missed, budget)
    return (
        f"Reviewing the riskiest {percent(near['budget'])} leaves "
        f"{_errors(near['missed'])} among {counted(near['unreviewed'])} unreviewed predictions"
    )


def reliability_title(bins: Records) -> str:
    """Return how sure the model is on average, and how often it is right."""
    rows = sum(b["rows"] for b in bins)
    if not rows:
        return "Confidence and accuracy"
    sure = sum(b["rows"] * b["confidence"] for b in bins) / rows
    right = sum(b["right"] for b in bins) / rows
    return f"The model is {percent(sure)} sure on average and right {percent(right)} of the time"


def confidence_title(bins: Records, tau: float | Mapping[str, float]) -> str:
    """Return how many predictions are confident, and how many of them are wrong."""
    rows = counted(sum(b["rows"] for b in bins))
    if isinstance(tau, Mapping):
        return f"Confidence of {rows} predictions; confident from {level(tau)}"
    sure = [b for b in bins if b["eligible"]]
    confident = sum(b["rows"] for b in sure)
    if not confident:
        return f"None of {rows} predictions is at least {level(tau)} sure"
    title = f"{counted(confident)} of {rows} predictions are at least {level(tau)} sure"
    if "wrong" not in bins[0]:
        return title
    wrong = sum(b["wrong"] for b in sure)
    found = "none of these is" if not wrong else f"{counted(wrong)} of these {_are(wrong)}"
    return f"{title}; {found} wrong"


def region_title(regions: Records) -> str:
    """Return the rate in the worst region against that of all confident predictions."""
    known = [r for r in regions if not undefined(r["rate"])]
    usual = [r for r in known if r["kind"] == "all"]
    rest = [r for r in known if r["kind"] != "all"]
    over_all = f"{rate(usual[0]['rate'])} of all confident predictions are wrong" if usual else ""
    if not rest:
        return over_all or "Rate of confident errors"
    worst = max(rest, key=lambda r: float(r["rate"]))
    where = "In this region" if len(rest) == 1 else "In the worst region"
    title = f"{where} {rate(worst['rate'])} of confident predictions are wrong"
    return f"{title}; overall {rate(usual[0]['rate'])}" if usual else title


def signal_title(signals: Records) -> str:
    """Return which signal tells confident errors apart best."""
    known = [s for s in signals if not undefined(s["auroc"])]
    if not known:
        return "Too few confident errors to compare signals"
    best = max(known, key=lambda s: float(s["auroc"]))
    return f"Strongest signal on its own: {best['meaning']} (AUROC {number(best['auroc'])})"


def contribution_title(families: Records) -> str:
    """Return which family of signals is missed most."""
    missed = [f for f in families if not undefined(f["low"]) and f["low"] > 0]
    if not missed:
        return "Leaving out any single family of signals changes little"
    most = max(missed, key=lambda f: float(f["loss"]))
    return f"Leaving out {most['family']} costs most: AUROC falls by {number(most['loss'])}"


def calibration_title(methods: Records) -> str:
    """Return whether the last method lowers the log loss."""
    before, after = methods[0]["nll"], methods[-1]["nll"]
    figures = f"log loss {number(before)} before, {number(after)} after"
    if abs(after - before) < LITTLE * before:
        return f"Recalibration changes little: {figures}"
    verb = "helps" if after < before else "does not help"
    return f"Recalibration with the evidence {verb}: {figures}"


def period_title(periods: Records) -> str:
    """Return the rate of the last period against that of all."""
    known = [p for p in periods if p["eligible"]]
    if not known:
        return "No period has a confident prediction"
    last, rows = known[-1], sum(p["eligible"] for p in known)
    return (
        f"In the last period, {last['period']}, {count(last['events'])} of "
        f"{count(last['eligible'])} confident predictions were wrong ({rate(last['rate'])}; all "
        f"periods {rate(sum(p['events'] for p in known) / rows)})"
    )


def _nearest(lines: Records, budget: float | None) -> dict[str, Any]:
    """Return the line of the budget next to one; without one, next to the paper's."""
    wanted = PAPER.main_budget if budget is None else budget
    return min(lines, key=lambda line: abs(float(line["budget"]) - wanted))


def _are(number_of: float) -> str:
    return "is" if number_of == 1 else "are"


def _errors(number_of: float) -> str:
    if not number_of:
        return "no confident error"
    return f"{counted(number_of)} confident error{'' if number_of == 1 else 's'}"
