"""Regions and calibration."""

from __future__ import annotations

import pandas as pd

from falcon_discover.bench import plan
from figures.common import results, table

# What the stored runs call the two kinds of regions.
KINDS = {"beyond": "unexpected", "foreseen": "expected"}
CALIBRATORS = (
    "p", "temperature", "platt", "isotonic", "beta", "platt_weighted", "discrepancy",
    "discrepancy_auto",
)  # fmt: skip
CALIBRATOR_NAMES = {
    "p": "the model itself",
    "platt_weighted": "platt, weighted",
    "discrepancy_auto": "discrepancy, caution auto",
}


def planted_table() -> str:
    """Return how often planted regions are found again."""
    known = results("regions", "planted.csv")
    rows = [
        [
            row.shape,
            "" if row.shape == "none" else f"{100 * row.mass:.0f}%, {100 * row.error_density:.0f}%",
            row.method,
            str(row.draws),
            "" if row.shape == "none" else f"{100 * row.recovered:.0f}%",
            "" if row.shape == "none" else f"{row.jaccard:.2f}",
            f"{100 * row.reported:.1f}%" if row.shape == "none" else f"{100 * row.reported:.0f}%",
            "" if pd.isna(row.seconds) else f"{row.seconds:.2f}",
        ]
        for row in known.itertuples()
    ]
    heads = ["region", "mass, error density", "method", "draws", "recovered",
             "Jaccard", "reported", "seconds"]  # fmt: skip
    return table(heads, rows)


def regions_table() -> str:
    """Return the confirmed regions of Adult and Bank, and how all of them hold on test rows."""
    known = results("actions", "regions.csv").replace({"kind": KINDS})
    lines = []
    for kind in KINDS.values():
        part = known[known["kind"] == kind]
        counts = ", ".join(
            f"{plan.TITLES[name]} {int((part['dataset'] == name).sum())}" for name in plan.DATASETS
        )
        holds = int(part["holds"].sum())
        found, expected = part["test_events"].sum(), part["test_expected"].sum()
        lines.append(
            f"**Confirmed, {kind}**: {len(part)} regions over 28 splits ({counts}). In {holds} of "
            f"them the rate on test rows agrees with the rate on confirmation rows (the 95% "
            f"intervals overlap). On test rows they hold {found:,.0f} confident errors; "
            f"{expected:,.0f} would be expected at the same confidence."
        )
    shown = known[known["dataset"].isin(["adult", "bank_marketing"]) & (known["seed"] == 7)]
    rows = [
        [
            plan.TITLES[row.dataset],
            row.kind,
            row.rule.replace("|", "/"),
            f"{row.confirmation_events} of {row.confirmation_eligible:,}",
            f"{100 * row.confirmation_rate:.1f}% [{100 * row.confirmation_low:.1f}, "
            f"{100 * row.confirmation_high:.1f}]",
            f"{row.confirmation_lift:.1f}",
            f"{row.test_events} of {row.test_eligible:,}",
            f"{row.test_lift:.1f}",
        ]
        for row in shown.itertuples()
    ]
    heads = [
        "seed 7", "kind", "region", "confirmation", "rate [95% interval]", "lift", "test", "lift",
    ]  # fmt: skip
    columns = (
        "Columns of Bank Marketing, as OpenML has them: V1 age, V2 job, V3 marital, V4 education, "
        "V6 balance, V7 housing loan, V9 contact, V10 day, V11 month, V12 duration, V14 days since "
        "last contact, V15 previous contacts, V16 their outcome."
    )
    return "\n\n".join([*lines, table(heads, rows), columns])


def calibrator_table() -> str:
    """Return every calibrator, means over the data sets."""
    known = results("actions", "calibration.csv")
    means = known.groupby("method").mean(numeric_only=True)
    errors = known.pivot_table("errors_at_coverage", "dataset", "method")
    change = (errors.div(errors["p"], axis=0) - 1.0).mean()
    rows = [
        [
            CALIBRATOR_NAMES.get(name, name),
            f"{means.loc[name, 'nll']:.4f}",
            f"{means.loc[name, 'brier']:.4f}",
            f"{means.loc[name, 'ece']:.4f}",
            f"{means.loc[name, 'cumulative_error']:.4f}",
            f"{means.loc[name, 'auroc']:.4f}",
            f"{100 * means.loc[name, 'accuracy']:.2f}%",
            f"{100 * means.loc[name, 'eligible']:.1f}%",
            f"{means.loc[name, 'fc_events']:.1f}",
            f"{means.loc[name, 'errors_at_coverage']:.1f}",
            f"{100 * change[name]:+.1f}%",
        ]
        for name in CALIBRATORS
    ]
    heads = [
        "mean over 7 data sets", "log loss", "Brier", "ECE", "cumulative error", "AUROC",
        "accuracy", "confident share", "confident errors", "errors at equal coverage",
        "mean change",
    ]  # fmt: skip
    return table(heads, rows)


def calibrator_dataset_table() -> str:
    """Return log loss, Brier score and errors at equal coverage by data set."""
    known = results("actions", "calibration.csv").set_index(["dataset", "method"])
    rows = []
    for name in plan.DATASETS:
        own = known.loc[name]
        plain = own.loc[["temperature", "platt", "isotonic", "beta"], "nll"]
        rows.append(
            [
                plan.TITLES[name],
                f"{own.loc['p', 'nll']:.4f}",
                f"{plain.min():.4f} ({plain.idxmin()})",
                f"{own.loc['discrepancy', 'nll']:.4f}",
                f"{own.loc['p', 'brier']:.4f}",
                f"{own.loc['discrepancy', 'brier']:.4f}",
                f"{own.loc['p', 'errors_at_coverage']:.1f}",
                f"{own.loc['discrepancy', 'errors_at_coverage']:.1f}",
                f"{100 * (own.loc['discrepancy', 'accuracy'] - own.loc['p', 'accuracy']):+.2f}",
            ]
        )
    heads = [
        "data set", "log loss: model", "best plain", "discrepancy", "Brier: model", "discrepancy",
        "errors at equal coverage: model", "discrepancy", "accuracy, points",
    ]  # fmt: skip
    return table(heads, rows)


def caution_table() -> str:
    """Return the trade-off of caution."""
    rows = [
        [
            row.caution if row.caution != "auto" else f"auto (mean {row.used:.2f})",
            f"{row.nll:.4f}",
            f"{row.brier:.4f}",
            f"{row.ece:.4f}",
            f"{100 * row.eligible:.1f}%",
            f"{100 * row.fc_change:+.1f}%",
            f"{100 * row.coverage_change:+.1f}%",
        ]
        for row in results("actions", "caution.csv").itertuples()
    ]
    heads = [
        "caution", "log loss", "Brier", "ECE", "confident share", "confident errors",
        "errors at equal coverage",
    ]  # fmt: skip
    return table(heads, rows)


def recalibration_words() -> str:
    """Return what recalibration with the evidence gives, in a sentence."""
    means = results("actions", "calibration.csv").groupby("method").mean(numeric_only=True)
    model, best = means.loc["p"], means.loc["discrepancy"]
    plain = means.loc[["temperature", "platt", "isotonic", "beta"]]
    lowest = all(best[name] < plain[name].min() for name in ("nll", "brier"))
    return (
        f"Recalibration with the evidence about each row lowers the mean log loss over the seven "
        f"data sets from {model['nll']:.3f} to {best['nll']:.3f} and the Brier score from "
        f"{model['brier']:.4f} to {best['brier']:.4f}"
        f"{', lower than any plain method,' if lowest else ''} and the calibration error (ECE) "
        f"from {model['ece']:.3f} to {best['ece']:.3f}. Among the same number of most confident "
        f"predictions, {best['errors_at_coverage']:.1f} are wrong instead of "
        f"{model['errors_at_coverage']:.1f}."
    )


TABLES = {
    "recalibrated": recalibration_words,
    "planted": planted_table,
    "regions": regions_table,
    "calibrators": calibrator_table,
    "calibrators_by_dataset": calibrator_dataset_table,
    "caution": caution_table,
}
