"""Predictions without a model: whether the stability of second opinions helps."""

from __future__ import annotations

from figures.common import results


def opinions_stability() -> str:
    """Return the mean gain of `auto` over data sets, models and seeds, with its standard error."""
    runs = results("precomputed_stability.csv")
    gain = runs["gain"]
    return (
        f"Over {len(runs)} audits of {runs['data'].nunique()} data sets it changed the eligible "
        f"AUROC of `auto` by {gain.mean():+.4f} on average (standard error {gain.sem():.4f}), "
        f"and was better in {int((gain > 0).sum())} of them."
    )


TABLES = {"opinions_stability": opinions_stability}
