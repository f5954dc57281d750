"""What goes beyond the paper: gated rankers, their risk and the review-budget guarantee.

Everything here comes from the stored scores; nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from falcon_discover import metrics
from falcon_discover.bench import plan
from falcon_discover.bench.loading import Run, Study
from falcon_discover.bench.pooling import Split, auroc_gain, capture_gains, capture_interval
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import BoolArray, FloatArray
from falcon_discover.settings import PAPER

GATED = ("auto", "auto_surprise", "gated_confidence", "gated_trustscore", "gated_stability")
FROM_PAPER = ("learned", "s_disc", "s_stab", "trustscore", "confidence")
GATE = "gated_confidence"
RANKING_COLUMNS = (
    "eligible_auroc", "average_precision", "cap05", "cap10", "cap20", "surprise20", "cap20_of_t95",
    "cap20_of_t99",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's test rows with the scores of every ranker."""

    key: RunKey
    test: pd.DataFrame
    paper: Run | None = None

    @cached_property
    def p(self) -> FloatArray:
        """The base model's scores."""
        return self.test["p"].to_numpy(dtype=np.float64)

    @cached_property
    def confidence(self) -> FloatArray:
        """The base model's confidence."""
        return metrics.confidence(self.p)

    def events(self, tau: float = PAPER.tau) -> BoolArray:
        """Return which test rows are confident errors."""
        return metrics.false_confidence(self.test["label"].to_numpy(), self.p, tau)

    def eligible(self, tau: float = PAPER.tau) -> BoolArray:
        """Return which test rows could be."""
        return np.asarray(self.confidence >= tau)

    def score(self, ranker: str, tau: float = PAPER.tau) -> FloatArray:
        """Return the suspicion of the test rows; the paper's rankers at the main threshold."""
        risk = self.test[f"auto_{plan.at(tau)}"].to_numpy()
        if ranker == "auto":
            return risk
        if ranker == "auto_surprise":
            return np.asarray(risk * metrics.surprise(self.confidence))
        if ranker == GATE:
            return metrics.gated_confidence(self.confidence, tau)
        if ranker == "gated_trustscore":
            trust = self.test["log_trust_1"].to_numpy()
            return metrics.gated(expit(-trust), self.confidence, tau)
        if ranker == "gated_stability":
            return metrics.gated(self.test["s_stab"].to_numpy(), self.confidence, tau)
        assert self.paper is not None
        return self.paper.score(self.paper.family(tau) if ranker == "family" else ranker, tau)

    def against_the_gate(self, ranker: str, tau: float = PAPER.tau) -> Split:
        """Return the test rows with a ranker's scores and those of gated confidence."""
        rows = self.test["row"].to_numpy()
        return Split(rows, self.events(tau), self.score(ranker, tau), self.score(GATE, tau))


class Beyond:
    """The stored scores of a study, joined with the paper's where both have a run."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.store = Store(study.store.folder / plan.RANKERS)
        self.done = set(self.store.runs())

    def scored(self, dataset: str, seed: int, backbone: str | None = None) -> Scored | None:
        """Return a run, by default of the selected backbone; None where it is not there."""
        selected = self.study.selected(dataset, seed)
        key = RunKey(dataset, seed, backbone or selected)
        if key not in self.done:
            return None
        test = self.store.read(key, "test")
        paper = None
        if backbone is None:
            paper = self.study.run(dataset, seed)
            # Both parts must speak of the same rows and the same model.
            same = paper.part("test")["row"].to_numpy() == test["row"].to_numpy()
            if not (same.all() and np.allclose(paper.part("test")["p"], test["p"], atol=1e-6)):
                raise InputError(f"{key} differs between the paper's part and the extensions.")
        return Scored(key, test, paper)

    def all_seeds(self, dataset: str, backbone: str | None = None) -> list[Scored]:
        """Return the runs of all seeds that are there."""
        runs = [self.scored(dataset, seed, backbone) for seed in self.study.seeds]
        return [run for run in runs if run is not None]


def rankings(beyond: Beyond) -> pd.DataFrame:
    """Return every ranker on every data set, with paired intervals against gated confidence.

    AUROC and precision are averaged over seeds with the events as weights; captures, of events
    and of surprise, with equal weights over the seeds that have events, as in the paper's tables.
    """
    lines = []
    for dataset in beyond.study.datasets:
        runs = beyond.all_seeds(dataset)
        weights = [int(run.events().sum()) for run in runs]
        for ranker in (*GATED, *FROM_PAPER):
            figures = pd.DataFrame([ranking_figures(run, ranker) for run in runs])
            line: dict[str, Any] = {"dataset": dataset, "ranker": ranker, "seeds": len(runs)}
            line["events"] = sum(weights)
            for name in RANKING_COLUMNS:
                pooled = name in ("eligible_auroc", "average_precision")
                line[name] = weighted_mean(figures[name], weights if pooled else None)
            if ranker != GATE:
                line |= gain_over_gate(runs, ranker)
            lines.append(line)
    return pd.DataFrame(lines)


def ranking_figures(run: Scored, ranker: str) -> dict[str, float]:
    """Return what a ranker finds in one run."""
    events, score, eligible = run.events(), run.score(ranker), run.eligible()
    figures = {
        "eligible_auroc": metrics.fc_auroc(events[eligible], score[eligible]),
        "average_precision": metrics.eligible_average_precision(
            events, score, run.confidence, PAPER.tau
        ),
        "surprise20": metrics.captured_surprise(events, score, run.confidence, PAPER.main_budget),
    }
    for budget in PAPER.budgets:
        figures[f"cap{round(100 * budget):02d}"] = metrics.capture_at(events, score, budget)
    for tau in metrics.SEVERE_TAUS:
        figures[f"cap20_of_{plan.at(tau)}"] = metrics.capture_at(
            run.events(tau), score, PAPER.main_budget
        )
    return figures


def weighted_mean(values: Sequence[float], weights: Sequence[int] | None = None) -> float:
    """Return the mean of the values that are defined; NaN if none is."""
    known = np.asarray(values, dtype=np.float64)
    w = np.ones(len(known)) if weights is None else np.asarray(weights, dtype=np.float64)
    defined = np.isfinite(known) & (w > 0)
    return float(np.average(known[defined], weights=w[defined])) if defined.any() else np.nan


def gain_over_gate(
    runs: Sequence[Scored], ranker: str, tau: float = PAPER.tau, *, captures: bool = True
) -> dict[str, float]:
    """Return the gain in eligible AUROC and in Capture@20 with paired intervals."""
    splits = [run.against_the_gate(ranker, tau) for run in runs]
    eligible = [s.take(run.eligible(tau)) for s, run in zip(splits, runs, strict=True)]
    gain, low, high = auroc_gain(eligible)
    figures = {"auroc_gain": gain, "auroc_gain_low": low, "auroc_gain_high": high}
    judged = [split for split in splits if split.events.any()]
    if captures and judged:
        mean = weighted_mean(
            [
                metrics.capture_at(s.events, s.score, PAPER.main_budget)
                - metrics.capture_at(s.events, s.other, PAPER.main_budget)
                for s in judged
            ]
        )
        low, high = capture_interval(mean, capture_gains(judged), judged)
        figures |= {"cap20_gain_low": low, "cap20_gain_high": high}
    return figures


def grid(beyond: Beyond) -> pd.DataFrame:
    """Return the gain of `auto` over gated confidence for every base model and threshold."""
    lines = []
    for dataset in beyond.study.datasets:
        for backbone in plan.GRID_BACKBONES:
            runs = beyond.all_seeds(dataset, backbone)
            for tau in plan.GRID_TAUS:
                weights = [int(run.events(tau).sum()) for run in runs]
                gate = [
                    metrics.eligible_auroc(
                        run.events(tau), run.score(GATE, tau), run.confidence, tau
                    )
                    for run in runs
                ]
                line: dict[str, Any] = {
                    "dataset": dataset,
                    "backbone": backbone,
                    "tau": tau,
                    "seeds": len(runs),
                    "events": sum(weights),
                    "gate_auroc": weighted_mean(gate, weights) if runs else np.nan,
                    **gain_over_gate(runs, "auto", tau, captures=False),
                }
                line["significantly_below"] = bool(line["auroc_gain_high"] < 0)
                line["significantly_above"] = bool(line["auroc_gain_low"] > 0)
                lines.append(line)
    return pd.DataFrame(lines)


def permuted(beyond: Beyond) -> pd.DataFrame:
    """Return the gain of `auto` where errors are dealt out at random among eligible rows."""
    lines = []
    for dataset in beyond.study.datasets:
        for run in beyond.all_seeds(dataset):
            gain, low, high = beyond.store.report(run.key)["permuted_gain"]
            lines.append(
                {"dataset": dataset, "seed": run.key.seed, "gain": gain, "low": low, "high": high}
            )
    return pd.DataFrame(lines)


def summary(tables: dict[str, pd.DataFrame]) -> str:
    """Return the findings in words."""
    return "\n".join(
        [
            *_rankers(tables["rankers"]),
            *_grid(tables["grid"]),
            *_guarantee(tables["guarantee"]),
            *_calibration(tables["risk_calibration"]),
            *_in_the_large(tables["risk_in_the_large"]),
            *_permuted(tables["permuted"]),
        ]
    )


def _rankers(frame: pd.DataFrame) -> list[str]:
    full = frame[frame["dataset"] != plan.SAMPLE]
    lines = []
    for ranker in ("auto", GATE):
        own = full[full["ranker"] == ranker]
        shown = ", ".join(f"{plan.TITLES[row.dataset]} {row.cap20:.3f}" for row in own.itertuples())
        lines.append(
            f"Capture@20 of {ranker}, mean over {len(own)} full data sets: "
            f"{own['cap20'].mean():.3f} ({shown})."
        )
    gains = frame[frame["ranker"] == "auto"]
    shown = ", ".join(
        f"{plan.TITLES[row.dataset]} {row.auroc_gain:+.3f}" for row in gains.itertuples()
    )
    lines.append(
        f"Eligible AUROC of auto over gated confidence, mean over {len(gains)} data sets: "
        f"{gains['auroc_gain'].mean():+.3f} ({shown})."
    )
    return lines


def _grid(frame: pd.DataFrame) -> list[str]:
    known = frame[frame["auroc_gain"].notna()]
    below = known[known["significantly_below"]]
    where = "; ".join(
        f"{plan.TITLES[row.dataset]} {row.backbone} {row.tau:g}: {row.auroc_gain:+.3f}"
        for row in below.itertuples()
    )
    return [
        f"Grid of data sets, base models and thresholds: {len(known)} of {len(frame)} cells "
        f"were run and have events; auto is significantly above gated confidence in "
        f"{int(known['significantly_above'].sum())}, significantly below in {len(below)}"
        + (f" ({where})." if where else ".")
        + f" Mean gain {known['auroc_gain'].mean():+.3f}, lowest {known['auroc_gain'].min():+.3f}."
    ]


def _guarantee(frame: pd.DataFrame) -> list[str]:
    lines = []
    for share, part in frame.groupby("calibration_share"):
        worst = part.sort_values("exceeded_later").iloc[-1]
        mean = 100 * part["exceeded_later"].mean()
        low, high = 100 * worst["exceeded_later_low"], 100 * worst["exceeded_later_high"]
        lines.append(
            f"Review-budget guarantee at 95%, {100 * share:.0f}% of the rows set the budget: "
            f"the target is exceeded on the later rows in {mean:.1f}% of the splits on average, "
            f"at most {100 * worst['exceeded_later']:.1f}% "
            f"[{low:.1f}, {high:.1f}] ({plan.TITLES[worst['dataset']]})."
        )
    return lines


def _calibration(frame: pd.DataFrame) -> list[str]:
    return [
        f"Calibrated risk: predicted inside the 95% interval of the observed rate in "
        f"{int(frame['inside'].sum())} of {len(frame)} bins."
    ]


def _in_the_large(frame: pd.DataFrame) -> list[str]:
    if frame.empty:
        return []
    whole = frame.iloc[-1]
    return [
        f"The risk in the large: {whole['observed']:.0f} confident errors where "
        f"{whole['predicted']:.0f} were predicted, {whole['ratio']:.3f} of them "
        f"[{whole['low']:.3f}, {whole['high']:.3f}]; slope {whole['slope']:.2f} "
        f"[{whole['slope_low']:.2f}, {whole['slope_high']:.2f}]; in the riskiest tenth "
        f"{whole['top_ratio']:.3f} [{whole['top_low']:.3f}, {whole['top_high']:.3f}]."
    ]


def _permuted(frame: pd.DataFrame) -> list[str]:
    below = int((frame["high"] < 0).sum())
    return [
        f"Without any signal: mean gain {frame['gain'].mean():+.3f} over {len(frame)} splits, "
        f"significantly below gated confidence in {below}."
    ]
