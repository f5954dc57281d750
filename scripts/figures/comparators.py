"""What stronger predictors change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from falcon_discover.bench import plan
from figures.common import results, table

GATE = "gated_confidence"
# Whose captures by confidence the paper prints and ours does not reach.
SOFTENED = {"magic_telescope": "saint", "spambase": "saint"}


def models() -> pd.DataFrame:
    """Return one line per data set and model, in the order of the tables."""
    return results("comparators", "models.csv").set_index(["dataset", "model"])


def by_ranker(ranker: str) -> pd.DataFrame:
    """Return what one ranker finds, by data set and model."""
    known = results("comparators", "rankers.csv")
    return known[known["ranker"] == ranker].set_index(["dataset", "model"])


def gain(line: Any) -> str:
    """Return a gain with its interval."""
    return f"{line.auroc_gain:+.3f} [{line.auroc_gain_low:+.3f}, {line.auroc_gain_high:+.3f}]"


def strongest() -> dict[str, str]:
    """Return the model with the best label AUROC of each data set."""
    best = models()["label_auroc"].groupby(level="dataset", sort=False).idxmax()
    return dict(best.to_list())


def comparator_table() -> str:
    """Return predictor and rankers by data set and model."""
    auto, best = by_ranker("auto"), strongest()
    others = {name: by_ranker(name)["eligible_auroc"] for name in (GATE, "trustscore", "family")}
    rows = []
    for place, line in models().iterrows():
        dataset, model = place
        label = f"{line['label_auroc']:.3f}"
        rows.append(
            [
                plan.TITLES[dataset],
                f"`{model}`",
                f"**{label}**" if best[dataset] == model else label,
                f"{line['accuracy']:.3f}",
                f"{line['eligible']:,.0f}",
                f"{line['events']:.1f}",
                *(f"{known[place]:.3f}" for known in others.values()),
                f"{auto.loc[place, 'eligible_auroc']:.3f}",
                gain(auto.loc[place]),
            ]
        )
    heads = [
        "data set", "model", "label AUROC", "accuracy", "eligible", "confident errors",
        "eligible AUROC: gate", "TrustScore", "family", "auto", "auto over the gate",
    ]  # fmt: skip
    return table(heads, rows)


def comparator_words() -> str:
    """Return what the table says."""
    known, auto, gate = models(), by_ranker("auto"), by_ranker(GATE)
    best = strongest()
    deep = [name for name, model in best.items() if model in plan.DEEP_MODELS]
    lines = [
        "**Are they stronger?** By label AUROC a deep model is the best of the seven on "
        f"{len(deep)} of {len(best)} data sets"
        + (f" ({_titles(deep)})" if deep else "")
        + ". "
        + _against_the_trees(known),
        "**Does an audit still find anything?** " + _findings(auto, best, gate, known),
        "**Label smoothing changes most.** " + _smoothing(known, gate, auto),
        "**Does SAINT absorb it on Magic, as the paper says?** " + _saint(known, gate, auto),
        "**What about the other rankers?** " + _others(auto),
        "**Was training long enough?** " + _training(known),
    ]
    return "\n\n".join(lines)


def _titles(names: list[str]) -> str:
    return ", ".join(plan.TITLES[name] for name in names)


def _against_the_trees(known: pd.DataFrame) -> str:
    wide = known.pivot_table("label_auroc", "dataset", "model")
    ahead = wide[list(plan.DEEP_MODELS)].max(axis=1) - wide["xgboost"]
    return (
        f"Compared with XGBoost, the best deep model ranges from {ahead.min():+.3f} "
        f"({plan.TITLES[ahead.idxmin()]}) to {ahead.max():+.3f} ({plan.TITLES[ahead.idxmax()]})."
    )


def _findings(
    auto: pd.DataFrame, best: dict[str, str], gate: pd.DataFrame, known: pd.DataFrame
) -> str:
    plain = auto[auto.index.get_level_values("model") != "realmlp_smoothed"]
    above, below = (plain["auroc_gain_low"] > 0).sum(), (plain["auroc_gain_high"] < 0).sum()
    means = plain["auroc_gain"].groupby(level="model", sort=False).mean()
    shown = ", ".join(f"`{model}` {value:+.3f}" for model, value in means.items())
    places = list(best.items())
    in_best = "; ".join(
        f"{plan.TITLES[place[0]]} (`{place[1]}`) {known.loc[place, 'events']:.0f} confident errors "
        f"per split, eligible AUROC {gate.loc[place, 'eligible_auroc']:.3f} to "
        f"{auto.loc[place, 'eligible_auroc']:.3f}"
        for place in places
    )
    held = sum(auto.loc[place, "auroc_gain_low"] > 0 for place in places)
    return (
        f"Confident errors remain in every model, {known['events'].min():.0f} to "
        f"{known['events'].max():.0f} per test split. `auto` finds more of them than gated "
        "confidence, but the better the predictor, the smaller the gain. Without label smoothing, "
        f"its interval lies above gated confidence in {above} of {len(plain)} cells and below in "
        f"{below}. Mean gain in eligible AUROC: {shown}. Label AUROC and gain have a mean rank "
        f"correlation of {_correlation(known, plain):+.2f} within a data set. With the strongest "
        f"model of each data set, `auto` is above the gate in {held} of {len(places)}: {in_best}."
        f"\n\n{_labels(plain)}"
    )


def _correlation(known: pd.DataFrame, auto: pd.DataFrame) -> float:
    """Return how the gain goes with the predictor's quality, in the mean over the data sets."""
    both = pd.DataFrame({"label": known["label_auroc"], "gain": auto["auroc_gain"]}).dropna()
    ranks = both.groupby(level="dataset").rank()
    return float(
        np.mean([lines["label"].corr(lines["gain"]) for _, lines in ranks.groupby("dataset")])
    )


def _labels(auto: pd.DataFrame) -> str:
    grid = results("beyond", "grid.csv").query("backbone == 'xgboost' and tau == 0.9")
    return (
        "These gains come from few labels: `auto` learns from the validation rows alone, a tenth "
        "of the data. In the study, where it learns from the cross-fitted training rows, its mean "
        f"gain with XGBoost is {grid['auroc_gain'].mean():+.3f} ([grid](../beyond.md)); here it is "
        f"{auto.xs('xgboost', level='model')['auroc_gain'].mean():+.3f}. So compare the models on "
        "this page only with each other."
    )


def _smoothing(known: pd.DataFrame, gate: pd.DataFrame, auto: pd.DataFrame) -> str:
    names = list(dict.fromkeys(known.index.get_level_values(0)))

    def mean(frame: pd.DataFrame, column: str, model: str) -> float:
        return float(frame.xs(model, level="model").loc[names, column].mean())

    plain, smoothed = "realmlp", "realmlp_smoothed"
    return (
        "RealMLP with its authors' defaults makes, on average over the data sets, "
        f"{mean(known, 'events', smoothed):.0f} confident errors per split; without smoothing it "
        f"makes {mean(known, 'events', plain):.0f}. But its confidence says much less about where "
        "they are: the eligible AUROC of the gate is "
        f"{mean(gate, 'eligible_auroc', smoothed):.3f} "
        f"instead of {mean(gate, 'eligible_auroc', plain):.3f}. `auto` makes up for it, with "
        f"{mean(auto, 'eligible_auroc', smoothed):.3f} and "
        f"{mean(auto, 'eligible_auroc', plain):.3f}. An audit helps most where training distorted "
        "the confidence."
    )


def _saint(known: pd.DataFrame, gate: pd.DataFrame, auto: pd.DataFrame) -> str:
    parts = []
    for model in ("xgboost", "saint", "saint_rows"):
        place = ("magic_telescope", model)
        parts.append(
            f"`{model}` {known.loc[place, 'events']:.0f} confident errors per split, gate "
            f"{gate.loc[place, 'eligible_auroc']:.3f}, auto "
            f"{auto.loc[place, 'eligible_auroc']:.3f}, gain {gain(auto.loc[place])}"
        )
    found = auto.loc[("magic_telescope", "saint"), "auroc_gain_low"] > 0
    answer = "Not our SAINT" if found else "Too few errors to tell"
    return f"{answer}. On Magic Telescope: {'; '.join(parts)}."


def _others(auto: pd.DataFrame) -> str:
    family, trust = by_ranker("family"), by_ranker("trustscore")
    below = int((family["auroc_gain_high"] < 0).sum())
    above = int((family["auroc_gain_low"] > 0).sum())
    better = trust["eligible_auroc"] > auto["eligible_auroc"]
    where = list(dict.fromkeys(trust.index[better].get_level_values("dataset")))
    return (
        f"The paper's family, chosen on validation rows, is below the gate in {below} of "
        f"{len(family)} cells and above it in {above}. TrustScore, which sees the training rows "
        "(seven times as many labelled rows as `auto` has here), is above `auto` in "
        f"{int(better.sum())}" + (f", on {_titles(where)}." if where else ".")
    )


def _training(known: pd.DataFrame) -> str:
    cut = known[known["cut_off"] > 0]
    if cut.empty:
        return "Every run of FT-Transformer and SAINT stopped by itself before its last epoch."
    shown = ", ".join(
        f"`{model}` on {plan.TITLES[dataset]} ({count} of 4 seeds)"
        for (dataset, model), count in cut["cut_off"].items()
    )
    return f"FT-Transformer and SAINT stopped by themselves, except {shown}."


def softened_table() -> str:
    """Return what a less sure SAINT would capture by its own confidence."""
    known = results("comparators", "softened.csv").set_index(["dataset", "model"]).sort_index()
    rows = [
        [
            plan.TITLES[place[0]],
            f"{line.divisor:g}",
            f"{100 * line.eligible_share:.0f}%",
            f"{line.events:.1f}",
            f"{line.cap20_by_confidence:.3f}",
        ]
        for place in SOFTENED.items()
        for line in known.loc[[place]].itertuples()
    ]
    heads = [
        "SAINT on", "log-odds divided by", "confident predictions", "confident errors",
        "Capture@20 by its confidence",
    ]  # fmt: skip
    return table(heads, rows)


def opinions_table() -> str:
    """Return what a strong model adds as a second opinion of XGBoost."""
    known = results("deep_opinions.csv")
    wide = known.set_index(["opinion", "dataset"])
    names = list(dict.fromkeys(known["dataset"]))
    rows = []
    for opinion in dict.fromkeys(known["opinion"]):
        line = [f"`{opinion}`"]
        for name in names:
            cell = wide.loc[(opinion, name)]
            line.append(f"{cell['auroc_gain']:+.3f} [{cell['low']:+.3f}, {cell['high']:+.3f}]")
        rows.append(line)
    means = known.groupby("opinion", sort=False)["auroc_gain"].mean()
    deep = means.drop("lightgbm")
    best = wide.loc[deep.idxmax(), "auroc_gain"]
    words = (
        f"As a second opinion next to XGBoost, a deep model adds {deep.min():+.3f} to "
        f"{deep.max():+.3f} to the eligible AUROC of `auto`, on average over {len(names)} data "
        f"sets (best: `{deep.idxmax()}`, {best.min():+.3f} to {best.max():+.3f}). LightGBM on the "
        f"same training rows adds {means['lightgbm']:+.3f}. It costs one fit on the training rows: "
        f"{_seconds(deep.idxmax(), names)} on one thread, LightGBM {_seconds('lightgbm', names)}."
    )
    heads = ["gain of one more opinion", *(plan.TITLES[name] for name in names)]
    return f"{words}\n\n{table(heads, rows)}"


def _seconds(model: str, names: list[str]) -> str:
    """Return how long fits of a model took on some data sets."""
    took = models().xs(model, level="model").loc[names, "fit_seconds"]
    return f"{took.min():.0f} to {took.max():.0f} s"


def bases_words() -> str:
    """Return what a deep base model costs."""
    known = results("deep_bases.csv")
    parts = [
        f"`{line.model}` {line.fit_seconds:.0f} s, label AUROC {line.label_auroc:.3f} and "
        f"{line.events} confident errors in {line.later_rows:,} later rows"
        for line in known.itertuples()
    ]
    first = known.iloc[0]
    return (
        f"As the base model of `FalconDiscover`, which fits it 16 times, on {first['rows']} rows "
        f"of {plan.TITLES[first['dataset']]} (processor time of one thread): {'; '.join(parts)}."
    )


TABLES = {
    "comparators": comparator_table,
    "comparators_words": comparator_words,
    "softened": softened_table,
    "deep_opinions": opinions_table,
    "deep_bases": bases_words,
}
