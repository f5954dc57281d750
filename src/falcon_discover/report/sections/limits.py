"""What a report does not say."""

from __future__ import annotations

from falcon_discover.report.page import Section, Summary
from falcon_discover.runtime.format import count


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
    if summary.get("design"):
        points.append(summary["design"]["words"])
    if (summary.get("design") or {}).get("groups"):
        points.append(
            "It speaks of groups like these, each drawn independently: not of new rows of these "
            "groups, which may be more or less like them."
        )
    else:
        points.append(
            "It speaks of rows like these, each drawn independently: not of copies, nor of many "
            "rows of one person or device, which tell less than their number says."
        )
    points += [
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
