"""The paper and what goes beyond it."""

from __future__ import annotations

import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.check import paper_values
from figures.common import results, table

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
    runs = results("adult_core.csv")
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
    lines = results("tables", "seed_level.csv")
    wanted = lines["table"].isin(["tab:main_discrepancy_family", "tab:operational_robustness"])
    numbers = lines[wanted].assign(value=pd.to_numeric(lines["value"], errors="coerce"))
    means = numbers.groupby(["row", "column"])["value"].mean()
    printed = paper_values()["tab:main_discrepancy_family"]
    auto = results("beyond", "rankers.csv").query("ranker == 'auto'").set_index("dataset")["cap20"]
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


def readme_table() -> str:
    """Return what a review finds by the simple rule and by `auto`, and by which base model."""
    known = results("beyond", "rankers.csv").set_index(["dataset", "ranker"])
    rows = [
        [
            plan.TITLES[name],
            f"{known.loc[(name, 'auto'), 'events']:.0f}",
            *(
                f"{known.loc[(name, ranker), column]:.0%}"
                for column in ("cap05", "cap20")
                for ranker in ("gated_confidence", "auto")
            ),
        ]
        for name in plan.DATASETS
    ]
    heads = [
        "data set", "confident errors", "5% reviewed: least confident first", "FALCON-Discover",
        "20% reviewed: least confident first", "FALCON-Discover",
    ]  # fmt: skip
    grid = results("beyond", "grid.csv")
    gains = grid[grid["tau"] == 0.9].groupby("backbone")["auroc_gain"].mean().sort_values()
    boosted = gains[["xgboost", "catboost", "hist_gradient_boosting"]]
    words = (
        f"The gain depends on the model: in AUROC among confident predictions it is, on average, "
        f"{boosted.min():+.2f} to {boosted.max():+.2f} for boosted trees, "
        f"{gains['random_forest']:+.2f} for random forests and "
        f"{gains['logistic_regression']:+.2f} for logistic regression. Of {len(grid)} combinations "
        f"of data set, model and threshold, the ranking beats the simple rule significantly in "
        f"{int(grid['significantly_above'].sum())} and falls significantly behind in "
        f"{int(grid['significantly_below'].sum()) or 'none'}."
    )
    return f"{table(heads, rows)}\n\n{words}"


def ranker_table() -> str:
    """Return the ranker against gated confidence on every data set."""
    known = results("beyond", "rankers.csv").set_index(["dataset", "ranker"])
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
    known = results("beyond", "grid.csv")
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
        f"have enough events to judge. `auto` is significantly above gated confidence in "
        f"{int(there['significantly_above'].sum())} and significantly below it in {len(below)}"
        f"{f': {where}' if where else ''}. Mean gain {there['auroc_gain'].mean():+.3f}, lowest "
        f"{there['auroc_gain'].min():+.3f}."
        + (f" In {short} cells fewer than four seeds were run." if short else "")
    )
    head = ["mean gain in eligible AUROC", *(f"tau {tau:.2f}" for tau in plan.GRID_TAUS)]
    return f"{words}\n\n{table(head, rows)}"


def calibration_table() -> str:
    """Return predicted risk beside the observed rate."""
    known = results("beyond", "risk_calibration.csv")
    rows = [
        [
            str(i),
            f"{row.rows:,}",
            f"{row.events:,}",
            f"{100 * row.predicted:.2f}%",
            f"{100 * row.observed:.2f}% [{100 * row.low:.2f}, {100 * row.high:.2f}]",
            "yes" if row.inside else "no",
        ]
        for i, row in enumerate(known.itertuples(), start=1)
    ]
    head = ["bin", "rows", "events", "predicted", "observed [95% interval]", "inside"]
    return (
        f"{table(head, rows)}\n\nInside the interval in {int(known['inside'].sum())} of "
        f"{len(known)} bins.\n\n{_in_the_large()}"
    )


def _in_the_large() -> str:
    """Return observed errors per predicted one and the slope, per data set and over all."""
    known = results("beyond", "risk_in_the_large.csv")
    rows = [
        [
            plan.TITLES.get(row.dataset, row.dataset),
            f"{row.predicted:.1f}",
            f"{row.observed:,}",
            f"{row.ratio:.2f} [{row.low:.2f}, {row.high:.2f}]",
            f"{row.slope:.2f} [{row.slope_low:.2f}, {row.slope_high:.2f}]",
            f"{row.top_predicted:.1f} / {row.top_observed:,}",
        ]
        for row in known.itertuples()
    ]
    return table(
        [
            "data set",
            "predicted",
            "observed",
            "observed per predicted [95% interval]",
            "slope [95% interval]",
            "riskiest tenth: predicted / observed",
        ],
        rows,
    )


def permuted_words() -> str:
    """Return the gain without any signal."""
    known = results("beyond", "permuted.csv")
    gain = known["gain"]
    below, above = int((known["high"] < 0).sum()), int((known["low"] > 0).sum())
    return (
        f"Mean gain {gain.mean():+.4f} over {len(known)} splits (from {gain.min():+.3f} to "
        f"{gain.max():+.3f}); the 95% interval lies below 0 in {below} of them and above 0 "
        f"in {above}."
    )


def guarantee_table() -> str:
    """Return how often the guarantee failed."""
    known = results("beyond", "guarantee.csv")
    halves = known[known["calibration_share"] == 0.5].sort_values("exceeded_later").iloc[-1]
    words = (
        "The guarantee is about the true rate. The rate among later rows is a sample of it: the "
        "fewer they are, the\nmore often it exceeds the target. With halves instead of thirds it "
        f"does so in up to {100 * halves['exceeded_later']:.1f}% of the splits "
        f"({plan.TITLES[halves['dataset']]})."
    )
    rows = [
        [
            plan.TITLES[row.dataset],
            f"{100 * row.target_rate:.2f}%",
            f"{100 * row.mean_budget:.0f}%",
            f"{100 * row.all_eligible:.0f}%",
            f"{100 * row.exceeded_later:.1f}% [{100 * row.exceeded_later_low:.1f}, "
            f"{100 * row.exceeded_later_high:.1f}]",
        ]
        for row in known[known["calibration_share"] < 0.5].itertuples()
    ]
    heads = [
        "data set", "target rate (1/4 and 1/2 of the base rate)", "mean budget",
        "all eligible rows asked for", "target exceeded [95% interval]",
    ]  # fmt: skip
    return f"{table(heads, rows)}\n\n{words}"


def severity_table() -> str:
    """Return captured surprise and severe events by ranker, means over the six full data sets."""
    known = results("beyond", "rankers.csv").query("dataset != @plan.SAMPLE")
    columns = ["cap20", "surprise20", "cap20_of_t95", "cap20_of_t99"]
    means = known.groupby("ranker")[columns].mean()
    order = ["auto", "auto_surprise", "gated_confidence", "gated_trustscore", "gated_stability",
             "learned", "s_disc", "s_stab", "trustscore", "confidence"]  # fmt: skip
    rows = [[name, *(f"{means.loc[name, c]:.3f}" for c in columns)] for name in order]
    return table(
        [
            "mean over the six full data sets, top 20%", "events found", "surprise found",
            "events at 0.95 found", "events at 0.99 found",
        ],
        rows,
    )  # fmt: skip


def choices_table() -> str:
    """Return what was tried for the ranker."""
    known = results("ranker_choices.csv")
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
        for row in results("auto_cost.csv").itertuples()
    ]
    return table(["base model", "cross-fitting", "auto adds", "state", "auto adds"], rows)


TABLES = {
    "adult": adult_table,
    "main": main_table,
    "gain": readme_table,
    "beyond": ranker_table,
    "grid": grid_table,
    "calibration": calibration_table,
    "permuted": permuted_words,
    "guarantee": guarantee_table,
    "severity": severity_table,
    "choices": choices_table,
    "cost": cost_table,
}
