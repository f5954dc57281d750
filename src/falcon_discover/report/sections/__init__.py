"""The sections of a report: one file each, all from the summary alone."""

from falcon_discover.report.page import Section, Summary
from falcon_discover.report.sections.about import (
    about_section,
    glossary_section,
    limits_section,
)
from falcon_discover.report.sections.budget import budget_section
from falcon_discover.report.sections.calibration import calibrated_section, recalibration_section
from falcon_discover.report.sections.headline import (
    facts,
    next_steps,
    score_words,
    tiles,
    title,
    verdict,
)
from falcon_discover.report.sections.label_doubt import label_doubt_section
from falcon_discover.report.sections.periods import periods_section
from falcon_discover.report.sections.regions import regions_section
from falcon_discover.report.sections.review import review_section
from falcon_discover.report.sections.sides import mistaken_section, sides_section
from falcon_discover.report.sections.signals import signals_section

__all__ = ["facts", "next_steps", "score_words", "sections", "tiles", "title", "verdict"]


def _mistaken(summary: Summary) -> list[Section]:
    """Return the section on pairs of classes; of two classes the sides say it all."""
    labelled = summary["evaluation"] is not None
    many = len(summary["data"]["classes"]) > 2
    return [mistaken_section(summary)] if labelled and many else []


def _known_regions(summary: Summary) -> list[Section]:
    """Return the section on regions of the fit, for rows without labels, if there are any."""
    known = any(region["confirmed"] for region in summary["regions"])
    return [regions_section(summary)] if known else []


def sections(summary: Summary) -> list[Section]:
    """Return the sections of a report, in order; what needs labels only where there are some."""
    if summary["evaluation"] is None:
        return [
            review_section(summary),
            *_known_regions(summary),
            calibrated_section(summary),
            about_section(summary),
            limits_section(summary),
            glossary_section(),
        ]
    return [
        review_section(summary),
        *label_doubt_section(summary),
        regions_section(summary),
        sides_section(summary),
        *_mistaken(summary),
        *periods_section(summary),
        budget_section(summary),
        calibrated_section(summary),
        signals_section(summary),
        recalibration_section(summary),
        about_section(summary),
        limits_section(summary),
        glossary_section(),
    ]
