"""Whether estimates on rows without labels hold, and how often each alarm is given."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from falcon_discover.monitoring.estimate import count_interval
from figures.common import results, table

ESTIMATES = {
    "errors": "**sum of risks**",
    "promised": "sum of 1 - confidence",
    "by_audit_rate": "rate at the audit x confident rows",
}
# Of the step from three to four fifths of the rows, what is left from four fifths to all.
ONE_STEP = 0.6
KINDS = ("random", "shifted")
LEAST, MANY = 10, 30
COVERAGE = "coverage of the 95% interval"


# The data sets that the work was done with, tables from outside, and those seen last.
OWN, OUTSIDE, UNSEEN = "monitor", "monitor_outside", "monitor_unseen"
ALARMS = ("monitor_alarms", "monitor_alarms_outside", "monitor_alarms_unseen")


def _batches(name: str) -> pd.DataFrame:
    """Return the batches in which enough confident errors were found."""
    known = results(f"{name}.csv")
    return known[known["events"] >= LEAST]


def estimate_table(name: str) -> str:
    """Return error, bias and coverage of each estimate on random and on shifted batches."""
    known, rows = _batches(name), []
    for column, words in ESTIMATES.items():
        line = [words]
        for kind in KINDS:
            line += _figures(known[known["kind"] == kind], column)
        rows.append(line)
    for mode in known["mode"].unique():
        line = [f"sum of risks, {mode} models"]
        for kind in KINDS:
            line += _figures(known[(known["kind"] == kind) & (known["mode"] == mode)], "errors")
        rows.append(line)
    whole = results(f"{name}.csv")
    for words, chosen in (
        (f"sum of risks, {MANY} errors or more found", whole["events"] >= MANY),
        (f"sum of risks, {LEAST} errors or more expected", whole["by_audit_rate"] >= LEAST),
    ):
        line = [words]
        for kind in KINDS:
            line += _figures(whole[chosen & (whole["kind"] == kind)], "errors")
        rows.append(line)
    for words, audited in (
        ("chance alone, in the batch and the audit", True),
        ("chance alone, in the batch", False),
    ):
        line = [words]
        for kind in KINDS:
            line += [f"{_by_chance(known[known['kind'] == kind], audited=audited):.2f}", "0", ""]
        rows.append(line)
    counts = [f"{int((known['kind'] == kind).sum()):,}" for kind in KINDS]
    heads = ["estimate"]
    for kind, count in zip(KINDS, counts, strict=True):
        heads += [
            f"{kind} ({count} batches): median error", f"{kind}: bias", f"{kind}: {COVERAGE}",
        ]  # fmt: skip
    return table(heads, rows)


def _by_chance(batches: pd.DataFrame, *, audited: bool) -> float:
    """Return the median error that chance leaves: errors come and go like a Poisson count.

    Parameters
    ----------
    audited : whether the rate is known from the errors that the audit met; or exactly
    """
    rng, draws = np.random.default_rng(0), 2_000
    events, met = batches["events"].to_numpy(), batches["audit_events"].to_numpy()
    drawn = rng.poisson(events, (draws, len(events)))
    expected = events * (rng.poisson(met, (draws, len(met))) / met if audited else 1.0)
    return float(np.median(np.abs(expected / np.maximum(drawn, 1) - 1)))


def _figures(batches: pd.DataFrame, column: str) -> list[str]:
    off = batches[column] / batches["events"] - 1
    if column == "errors":
        low, high = batches["errors_low"], batches["errors_high"]
    else:
        # What chance alone makes of such an estimate.
        ends = [
            count_interval(value, 0.0, 0.95, int(most))
            for value, most in zip(batches[column], batches["eligible"], strict=True)
        ]
        low, high = (pd.Series(end, index=batches.index) for end in zip(*ends, strict=True))
    held = (low <= batches["events"]) & (batches["events"] <= high)
    bias = batches[column].sum() / batches["events"].sum() - 1
    return [f"{off.abs().median():.2f}", f"{bias:+.2f}", f"{held.mean():.2f}"]


def data_table(name: str) -> str:
    """Return the same for the sum of risks, by data set."""
    known, rows = _batches(name), []
    for data, batches in known.groupby("data", sort=True):
        called = "MiniBooNE sample" if data == "miniboone_subset" else str(data).replace("_", " ")
        audits = len(batches[["model", "seed", "mode"]].drop_duplicates())
        events = f"{batches['events'].median():.0f}"
        rows.append([called, str(audits), str(len(batches)), events, *_figures(batches, "errors")])
    heads = [
        "data", "audits", "batches", "median confident errors", "median error", "bias",
        COVERAGE,
    ]  # fmt: skip
    return table(heads, rows)


def bias_table() -> str:
    """Return the bias of refitted models' risks, and what models of fewer rows foresee of it."""
    known, rows = results("risk_learning_curve.csv"), []
    pooled = known.groupby(["model", "dataset"], sort=False).sum(numeric_only=True)
    for (model, data), line in pooled.iterrows():
        bias = line["predicted"] / line["observed"] - 1
        below = line["predicted_below"] / line["observed_below"] - 1
        events = f"{line['observed']:.0f}"
        name = str(data).replace("_", " ")
        rows.append([str(model), name, events, f"{bias:+.2f}", f"{ONE_STEP * below:+.2f}"])
    return table(["model", "data", "confident errors", "bias", "predicted"], rows)


def alarm_table() -> str:
    """Return how often each alarm is given, by what was done to the rows."""
    known = pd.concat([results(f"{name}.csv") for name in ALARMS], ignore_index=True)
    rows = []
    for kind, batches in known.groupby("kind", sort=False):
        shares = [
            f"{int((batches['alarm'] == alarm).sum())}"
            for alarm in ("as_audited", "more_errors_expected", "unlike_audited")
        ]
        rows.append([str(kind), str(len(batches)), *shares])
    heads = ["rows", "batches", "as audited", "more errors expected", "unlike audited"]
    return table(heads, rows)


def watch_table() -> str:
    """Return how often, and how soon, the running check gives an alarm."""
    rows = [
        [
            f"{line.errors_per_estimated:g}",
            *(f"{100 * share:.1f}%" for share in (line.within_10, line.within_25, line.ever)),
            "" if pd.isna(line.median_batch) else f"{line.median_batch:.0f}",
        ]
        for line in results("calibration_watch.csv").itertuples()
    ]
    heads = [
        "true errors per estimated error", "alarm within 10 batches", "within 25",
        "within 200", "median batch at alarm",
    ]  # fmt: skip
    return table(heads, rows)


TABLES = {
    "monitor": partial(estimate_table, OWN),
    "monitor_data": partial(data_table, OWN),
    "monitor_outside": partial(estimate_table, OUTSIDE),
    "monitor_outside_data": partial(data_table, OUTSIDE),
    "monitor_unseen": partial(estimate_table, UNSEEN),
    "monitor_unseen_data": partial(data_table, UNSEEN),
    "monitor_bias": bias_table,
    "monitor_alarms": alarm_table,
    "calibration_watch": watch_table,
}
