"""What goes beyond the paper, in a few lines that can be checked against their targets."""

from __future__ import annotations

import pandas as pd

from falcon_discover.bench import plan
from falcon_discover.bench.beyond import GATE


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
            f"Review-budget guarantee at 95 %, {100 * share:.0f} % of the rows set the budget: "
            f"the target is exceeded on the later rows in {mean:.1f} % of the splits on average, "
            f"at most {100 * worst['exceeded_later']:.1f} % "
            f"[{low:.1f}, {high:.1f}] ({plan.TITLES[worst['dataset']]})."
        )
    return lines


def _calibration(frame: pd.DataFrame) -> list[str]:
    return [
        f"Calibrated risk: predicted inside the 95 % interval of the observed rate in "
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
