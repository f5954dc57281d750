"""Put the committed figures into README and docs: python scripts/update_readme.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.check import paper_values

ROOT = Path(__file__).parents[1]
NAMES = {
    "events": "confident errors per test split",
    "confidence": "Capture@20, most confident first",
    "s_stab": "Capture@20, `s_stab`",
    "s_disc": "Capture@20, `s_disc`",
    "learned": "Capture@20, learned witness",
    "gated_confidence": "Capture@20, **gated confidence**",
}


def adult_table() -> str:
    """Return the Adult figures as Markdown: mean over seeds with its range, beside the paper."""
    runs = pd.read_csv(ROOT / "results" / "adult_core.csv")
    printed = paper_values()
    paper = {
        **printed["tab:family_ablation"]["adult"],
        **printed["tab:operational_robustness"]["adult"],
        "confidence": printed["tab:appendix_full_baselines"]["confidence"]["adult"],
    }
    lines = ["| | ours (range of the seeds) | paper |", "|---|---|---|"]
    for key, name in NAMES.items():
        digits = 1 if key == "events" else 3
        mean, low, high = (f"{v:.{digits}f}" for v in runs[key].agg(["mean", "min", "max"]))
        ours = f"{mean} ({low} to {high})"
        theirs = f"{paper[key]:.{digits}f}" if key in paper else "not reported"
        lines.append(f"| {name} | {ours} | {theirs} |")
    return "\n".join(lines)


def main_table() -> str:
    """Return the main result as Markdown: Capture@20 at tau 0.90, paper beside ours."""
    lines = pd.read_csv(ROOT / "results" / "tables" / "seed_level.csv")
    wanted = lines["table"].isin(["tab:main_discrepancy_family", "tab:operational_robustness"])
    numbers = lines[wanted].assign(value=pd.to_numeric(lines["value"], errors="coerce"))
    means = numbers.groupby(["row", "column"])["value"].mean()
    printed = paper_values()["tab:main_discrepancy_family"]
    auto = beyond("rankers").query("ranker == 'auto'").set_index("dataset")["cap20"]
    rows = [
        "| data set | confident errors | best prior: ours (paper) | best family: ours (paper) "
        "| gated confidence | **auto** |",
        "|---|---|---|---|---|---|",
    ]
    for name in plan.DATASETS:
        paper = printed.get(name)
        cells = [plan.TITLES[name], f"{means[name, 'events']:.1f}"]
        for column in ("prior_cap20", "family_cap20"):
            theirs = "other data" if paper is None else f"{paper[column]:.3f}"
            cells.append(f"{means[name, column]:.3f} ({theirs})")
        cells += [f"{means[name, 'gated_cap20']:.3f}", f"**{auto[name]:.3f}**"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def beyond(name: str) -> pd.DataFrame:
    """Return a committed table of what goes beyond the paper."""
    return pd.read_csv(ROOT / "results" / "beyond" / f"{name}.csv")


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ranker_table() -> str:
    """Return the ranker against gated confidence on every data set."""
    known = beyond("rankers").set_index(["dataset", "ranker"])
    rows = []
    for name in plan.DATASETS:
        auto, gate = known.loc[name, "auto"], known.loc[name, "gated_confidence"]
        rows.append(
            [
                plan.TITLES[name],
                f"{auto['events']:.0f}",
                f"{gate['eligible_auroc']:.3f}",
                f"{auto['eligible_auroc']:.3f}",
                f"{auto['auroc_gain']:+.3f} [{auto['auroc_gain_low']:+.3f}, "
                f"{auto['auroc_gain_high']:+.3f}]",
                f"{gate['cap20']:.3f}",
                f"{auto['cap20']:.3f}",
            ]
        )
    full = [name for name in plan.DATASETS if name != plan.SAMPLE]
    auto, gate = (known.xs(r, level="ranker") for r in ("auto", "gated_confidence"))
    rows.append(
        [
            "mean (captures: six full data sets)",
            "",
            f"{gate['eligible_auroc'].mean():.3f}",
            f"{auto['eligible_auroc'].mean():.3f}",
            f"**{auto['auroc_gain'].mean():+.3f}**",
            f"{gate.loc[full, 'cap20'].mean():.3f}",
            f"**{auto.loc[full, 'cap20'].mean():.3f}**",
        ]
    )
    return table(
        [
            "data set", "events, 4 seeds", "eligible AUROC, gate", "auto", "gain",
            "Capture@20, gate", "auto",
        ],
        rows,
    )  # fmt: skip


def grid_table() -> str:
    """Return the mean gain by base model and threshold, and where it is below the gate."""
    known = beyond("grid")
    there = known[known["auroc_gain"].notna()]
    means = there.pivot_table("auroc_gain", "backbone", "tau")
    rows = [
        [name, *(f"{means.loc[name, tau]:+.3f}" for tau in plan.GRID_TAUS)]
        for name in plan.GRID_BACKBONES
        if name in means.index
    ]
    below = there[there["significantly_below"]]
    where = "; ".join(
        f"{plan.TITLES[row.dataset]}, {row.backbone}, tau {row.tau:g} ({row.auroc_gain:+.3f})"
        for row in below.itertuples()
    )
    short = int((known["seeds"] < 4).sum())
    words = (
        f"Over 7 data sets x 5 base models x 4 thresholds, {len(there)} of {len(known)} cells "
        f"were run and have events to judge by. `auto` is significantly above gated confidence in "
        f"{int(there['significantly_above'].sum())} and significantly below it in {len(below)}"
        f"{f': {where}' if where else ''}. Mean gain {there['auroc_gain'].mean():+.3f}, lowest "
        f"{there['auroc_gain'].min():+.3f}."
        + (f" In {short} cells fewer than four seeds were run." if short else "")
    )
    head = ["mean gain in eligible AUROC", *(f"tau {tau:.2f}" for tau in plan.GRID_TAUS)]
    return f"{words}\n\n{table(head, rows)}"


def calibration_table() -> str:
    """Return predicted risk beside the observed rate."""
    known = beyond("risk_calibration")
    rows = [
        [
            str(i),
            f"{row.rows:,}",
            f"{row.events:,}",
            f"{100 * row.predicted:.2f} %",
            f"{100 * row.observed:.2f} % [{100 * row.low:.2f}, {100 * row.high:.2f}]",
            "yes" if row.inside else "no",
        ]
        for i, row in enumerate(known.itertuples(), start=1)
    ]
    head = ["bin", "rows", "events", "predicted", "observed [95 % interval]", "inside"]
    return (
        f"{table(head, rows)}\n\nInside the interval in {int(known['inside'].sum())} of "
        f"{len(known)} bins."
    )


def permuted_words() -> str:
    """Return the gain without any signal."""
    known = beyond("permuted")
    gain = known["gain"]
    below, above = int((known["high"] < 0).sum()), int((known["low"] > 0).sum())
    return (
        f"Mean gain {gain.mean():+.4f} over {len(known)} splits (from {gain.min():+.3f} to "
        f"{gain.max():+.3f}); the 95 % interval lies below 0 in {below} of them and above 0 "
        f"in {above}."
    )


def guarantee_table() -> str:
    """Return how often the guarantee failed."""
    known = beyond("guarantee")
    halves = known[known["calibration_share"] == 0.5].sort_values("exceeded_later").iloc[-1]
    words = (
        "The guarantee is about the true rate. The rate among later rows is a sample of it and "
        "exceeds the target more often\nthe fewer they are: with halves instead of thirds it does "
        f"so in up to {100 * halves['exceeded_later']:.1f} % of the splits "
        f"({plan.TITLES[halves['dataset']]})."
    )
    rows = [
        [
            plan.TITLES[row.dataset],
            f"{100 * row.target_rate:.2f} %",
            f"{100 * row.mean_budget:.0f} %",
            f"{100 * row.all_eligible:.0f} %",
            f"{100 * row.exceeded_later:.1f} % [{100 * row.exceeded_later_low:.1f}, "
            f"{100 * row.exceeded_later_high:.1f}]",
        ]
        for row in known[known["calibration_share"] < 0.5].itertuples()
    ]
    heads = [
        "data set", "target rate (1/4 and 1/2 of the base rate)", "mean budget",
        "all eligible rows asked for", "target exceeded [95 % interval]",
    ]  # fmt: skip
    return f"{table(heads, rows)}\n\n{words}"


def severity_table() -> str:
    """Return captured surprise and severe events by ranker, means over the six full data sets."""
    known = beyond("rankers").query("dataset != @plan.SAMPLE")
    columns = ["cap20", "surprise20", "cap20_of_t95", "cap20_of_t99"]
    means = known.groupby("ranker")[columns].mean()
    order = ["auto", "auto_surprise", "gated_confidence", "gated_trustscore", "gated_stability",
             "learned", "s_disc", "s_stab", "trustscore", "confidence"]  # fmt: skip
    rows = [[name, *(f"{means.loc[name, c]:.3f}" for c in columns)] for name in order]
    return table(
        [
            "mean over the six full data sets, top 20 %", "events found", "surprise found",
            "events at 0.95 found", "events at 0.99 found",
        ],
        rows,
    )  # fmt: skip


def choices_table() -> str:
    """Return what was tried for the ranker."""
    known = pd.read_csv(ROOT / "results" / "ranker_choices.csv")
    means = known.groupby("choice", sort=False)["gain"].agg(["mean", "min"])
    rows = [[name, f"{row['mean']:+.3f}", f"{row['min']:+.3f}"] for name, row in means.iterrows()]
    return table([f"mean and lowest of {known['problem'].nunique()} problems", "mean", "min"], rows)


def cost_table() -> str:
    """Return what the ranker adds to the time of a fit and of scoring."""
    rows = [
        [
            row.backbone,
            f"{row.cross_fitting:.1f}",
            f"{row.fit_adds:.1f} ({row.fit_share:.2f} of it)",
            f"{row.state:.2f}",
            f"{row.score_adds:.2f} ({row.score_share:.2f} of it)",
        ]
        for row in pd.read_csv(ROOT / "results" / "auto_cost.csv").itertuples()
    ]
    return table(["base model", "cross-fitting", "auto adds", "state", "auto adds"], rows)


def scale_table() -> str:
    """Return time and memory of scoring by number of rows, and the exponents of growth."""
    runs = pd.read_csv(ROOT / "results" / "scale.csv").sort_values("rows")
    rows = [
        [f"{int(r.rows):,}", f"{r.seconds:,.1f}", f"{r.cpu_seconds:,.1f}", f"{r.peak_mb:,.0f}"]
        for r in runs.itertuples()
    ]
    start, grown = runs.iloc[0], runs.iloc[1:]
    slopes = [
        np.polyfit(np.log(grown["rows"]), np.log(grown[name] - start[name]), 1)[0]
        for name in ("cpu_seconds", "seconds")
    ]
    return (
        table(["rows", "seconds", "processor seconds", "peak memory, MB"], rows)
        + f"\n\nExponent of growth beyond the start: {slopes[0]:.3f} in processor seconds, "
        f"{slopes[1]:.3f} in seconds."
    )


def reference_table() -> str:
    """Return what saving a sample of the reference rows, or none, costs."""
    runs = pd.read_csv(ROOT / "results" / "saved_reference.csv")
    means = runs.drop(columns="seed").groupby("reference", sort=False).mean()
    rows = [
        [
            f'`"{kept}"`',
            f"{r.rows:,.0f}",
            f"{r.file_mb:.1f}",
            f"{r.eligible_auroc:.3f}",
            f"{r.capture_20:.3f}",
            f"{r.capture_05:.3f}",
        ]
        for kept, r in means.iterrows()
    ]
    heads = ["reference", "rows", "file, MB", "eligible AUROC", "Capture@20", "Capture@5"]
    return table(heads, rows) + f"\n\nMeans of {runs['seed'].nunique()} seed(s)."


def results(*parts: str) -> pd.DataFrame:
    """Return a committed table by its path below `results/`."""
    return pd.read_csv(ROOT.joinpath("results", *parts))


def planted_table() -> str:
    """Return how often planted regions are found again."""
    known = results("regions", "planted.csv")
    rows = [
        [
            row.shape,
            ""
            if row.shape == "none"
            else f"{100 * row.mass:.0f} %, {100 * row.error_density:.0f} %",
            row.method,
            str(row.draws),
            "" if row.shape == "none" else f"{100 * row.recovered:.0f} %",
            "" if row.shape == "none" else f"{row.jaccard:.2f}",
            f"{100 * row.reported:.1f} %" if row.shape == "none" else f"{100 * row.reported:.0f} %",
            "" if pd.isna(row.seconds) else f"{row.seconds:.2f}",
        ]
        for row in known.itertuples()
    ]
    heads = ["region", "mass, error density", "method", "draws", "recovered",
             "Jaccard", "reported", "seconds"]  # fmt: skip
    return table(heads, rows)


def regions_table() -> str:
    """Return the confirmed regions of Adult and Bank, and how all of them hold on test rows."""
    known = results("actions", "regions.csv")
    lines = []
    for kind, title in (("beyond", "beyond their confidence"), ("foreseen", "foreseen")):
        part = known[known["kind"] == kind]
        counts = ", ".join(
            f"{plan.TITLES[name]} {int((part['dataset'] == name).sum())}" for name in plan.DATASETS
        )
        holds = int(part["holds"].sum())
        found, expected = part["test_events"].sum(), part["test_expected"].sum()
        lines.append(
            f"**Confirmed {title}**: {len(part)} over 28 splits ({counts}); the rate on test rows "
            f"agrees with the rate on confirmation rows (95 % intervals overlap) in {holds} of "
            f"them. Confident errors in them on test rows: {found:.0f}, where rows of the same "
            f"confidence let expect {expected:.0f}."
        )
    shown = known[known["dataset"].isin(["adult", "bank_marketing"]) & (known["seed"] == 7)]
    rows = [
        [
            plan.TITLES[row.dataset],
            row.kind,
            row.rule.replace("|", "/"),
            f"{row.confirmation_events} of {row.confirmation_eligible:,}",
            f"{100 * row.confirmation_rate:.1f} % [{100 * row.confirmation_low:.1f}, "
            f"{100 * row.confirmation_high:.1f}]",
            f"{row.confirmation_lift:.1f}",
            f"{row.test_events} of {row.test_eligible:,}",
            f"{row.test_lift:.1f}",
        ]
        for row in shown.itertuples()
    ]
    heads = [
        "seed 7", "kind", "region", "confirmation", "rate [95 % interval]", "lift", "test", "lift",
    ]  # fmt: skip
    columns = (
        "Columns of Bank Marketing, as OpenML has them: V1 age, V2 job, V3 marital, V4 education, "
        "V6 balance, V7 housing loan, V9 contact, V10 day, V11 month, V12 duration, V14 days since "
        "last contact, V15 previous contacts, V16 their outcome."
    )
    return "\n\n".join([*lines, table(heads, rows), columns])


CALIBRATORS = ("p", "temperature", "platt", "isotonic", "beta", "platt_weighted", "discrepancy")
CALIBRATOR_NAMES = {"p": "the model itself", "platt_weighted": "platt, weighted"}


def calibrator_table() -> str:
    """Return every calibrator, means over the data sets."""
    known = results("actions", "calibration.csv")
    means = known.groupby("method").mean(numeric_only=True)
    events = known.pivot_table("fc_events", "dataset", "method")
    change = (events.div(events["p"], axis=0) - 1.0).mean()
    rows = [
        [
            CALIBRATOR_NAMES.get(name, name),
            f"{means.loc[name, 'nll']:.4f}",
            f"{means.loc[name, 'brier']:.4f}",
            f"{means.loc[name, 'ece']:.4f}",
            f"{means.loc[name, 'cumulative_error']:.4f}",
            f"{means.loc[name, 'fc_events']:.1f}",
            f"{100 * change[name]:+.1f} %",
            f"{100 * means.loc[name, 'eligible']:.1f} %",
            f"{100 * means.loc[name, 'accuracy']:.2f} %",
        ]
        for name in CALIBRATORS
    ]
    heads = [
        "mean over 7 data sets", "log loss", "Brier", "ECE", "cumulative error",
        "confident errors", "mean change", "confident share", "accuracy",
    ]  # fmt: skip
    return table(heads, rows)


def calibrator_dataset_table() -> str:
    """Return log loss, Brier score and confident errors by data set."""
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
                f"{own.loc['p', 'fc_events']:.1f}",
                f"{own.loc['discrepancy', 'fc_events']:.1f}",
                f"{100 * (own.loc['discrepancy', 'accuracy'] - own.loc['p', 'accuracy']):+.2f}",
            ]
        )
    heads = [
        "data set", "log loss: model", "best plain", "discrepancy", "Brier: model", "discrepancy",
        "confident errors: model", "discrepancy", "accuracy, points",
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
            f"{100 * row.fc_change:+.1f} %",
        ]
        for row in results("actions", "caution.csv").itertuples()
    ]
    return table(["caution", "log loss", "Brier", "ECE", "confident errors"], rows)


TABLE_NAMES = {"adult": "Adult", "nomao": "Nomao", "synthetic": "synthetic"}


def floor_table() -> str:
    """Return the time of the state over its floor, and plain loops over the state."""
    rows = [
        [
            f"{TABLE_NAMES[r.table]}, {r.backbone}",
            f"{r.reference_rows:,} x {r.coordinates}",
            f"{r.rows:,}",
            f"{r.predicting:.2f} + {r.searching:.2f}",
            f"{r.state:.2f}",
            f"**{r.over_floor:.2f}**",
            f"{r.over_floor_cpu:.2f}",
            f"{r.extended_over_floor:.2f}",
            f"{r.plain_loop_over_state:.1f}",
            f"{r.row_loop_over_state:.0f}",
        ]
        for r in results("performance", "state_floor.csv").itertuples()
    ]
    heads = [
        "table, model", "reference", "rows", "floor: predicting + searching, s", "state, s",
        "state / floor", "in processor time", "all signals / floor", "plain loop / state",
        "loop over rows / state",
    ]  # fmt: skip
    return table(heads, rows)


def peers_table() -> str:
    """Return time and peak memory beside other tools."""
    known = results("performance", "peers.csv")
    rows = []
    for case, sides in known.groupby("case", sort=False):
        ours = sides.set_index("tool").loc["ours"]
        for r in sides.itertuples():
            ratio = r.seconds / ours["seconds"]
            limit = "more than " if r.stopped else ""
            rows.append(
                [
                    case,
                    r.tool,
                    f"{limit}{r.seconds:,.2f}",
                    "" if r.tool == "ours" else f"{limit}{ratio:,.2g}",
                    f"{r.peak_mb:,.0f}",
                ]
            )
    return table(["", "", "seconds", "times ours", "peak memory, MB"], rows)


def fit_memory_table() -> str:
    """Return the peak memory of a fit."""
    rows = [
        [
            f"{r.rows:,} x {r.columns}",
            str(len(r.candidates.split())),
            r.selected,
            f"{r.cpu_seconds / 60:,.0f}",
            f"**{r.peak_mb / 1000:.2f}**",
        ]
        for r in results("performance", "fit_memory.csv").itertuples()
    ]
    heads = ["table", "candidates", "selected", "processor minutes", "peak memory, GB"]
    return table(heads, rows)


def sizing_table() -> str:
    """Return what scoring costs by reference rows, columns and model."""
    rows = []
    for r in results("performance", "sizing.csv").itertuples():
        hours = [r.microseconds_per_row * millions / 3600 for millions in (1, 100)]
        rows.append(
            [
                r.model,
                f"{r.reference_rows:,}",
                str(r.columns),
                f"{r.microseconds_per_row:,.0f}",
                *(f"{hour:,.2g}" for hour in hours),
                f"{r.peak_mb:,.0f}",
                f"{r.audit_mb:,.0f}",
            ]
        )
    heads = [
        "model", "reference rows", "columns", "microseconds per row", "core-hours, 1 million rows",
        "100 million (extrapolated)", "memory per process, MB", "audit, MB",
    ]  # fmt: skip
    return table(heads, rows)


PAGES = (
    "README.md",
    "docs/beyond.md",
    "docs/regions.md",
    "docs/calibration.md",
    "docs/performance.md",
    "docs/guides/scale-out.md",
)
TABLES = {
    "adult": adult_table,
    "main": main_table,
    "beyond": ranker_table,
    "grid": grid_table,
    "calibration": calibration_table,
    "permuted": permuted_words,
    "guarantee": guarantee_table,
    "severity": severity_table,
    "choices": choices_table,
    "cost": cost_table,
    "scale": scale_table,
    "floor": floor_table,
    "peers": peers_table,
    "fit_memory": fit_memory_table,
    "sizing": sizing_table,
    "reference": reference_table,
    "planted": planted_table,
    "regions": regions_table,
    "calibrators": calibrator_table,
    "calibrators_by_dataset": calibrator_dataset_table,
    "caution": caution_table,
}


def filled(text: str) -> str:
    """Return a text with every marked table renewed."""
    for name, make in TABLES.items():
        marks = rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)"
        if re.search(marks, text, flags=re.DOTALL):
            body = make()
            text = re.sub(
                marks, lambda m, body=body: f"{m[1]}{body}\n{m[2]}", text, flags=re.DOTALL
            )
    return text


# Figures of the results that pages of the site show; the site serves nothing outside docs/.
FIGURES = ("beyond/gains.png", "beyond/risk_calibration.png", "figures/adult_operating_points.png")

if __name__ == "__main__":
    for figure in FIGURES:
        source = ROOT / "results" / figure
        (ROOT / "docs" / "images" / source.name).write_bytes(source.read_bytes())
    for page in PAGES:
        path = ROOT / page
        path.write_text(filled(path.read_text()))
