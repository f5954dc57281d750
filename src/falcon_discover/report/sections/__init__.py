"""The sections of a report: one file each, all from the summary alone."""

from falcon_discover.report.page import Section, Summary
from falcon_discover.report.sections.about import about_section
from falcon_discover.report.sections.budget import budget_section
from falcon_discover.report.sections.calibrated import calibrated_section
from falcon_discover.report.sections.headline import score_words, tiles
from falcon_discover.report.sections.limits import limits_section
from falcon_discover.report.sections.periods import periods_section
from falcon_discover.report.sections.recalibration import recalibration_section
from falcon_discover.report.sections.regions import regions_section
from falcon_discover.report.sections.review import review_section
from falcon_discover.report.sections.sides import sides_section
from falcon_discover.report.sections.signals import signals_section

__all__ = ["score_words", "sections", "tiles"]


def sections(summary: Summary) -> list[Section]:
    """Return the sections of a report, in order."""
    return [
        review_section(summary),
        regions_section(summary),
        sides_section(summary),
        *periods_section(summary),
        budget_section(summary),
        calibrated_section(summary),
        signals_section(summary),
        recalibration_section(summary),
        about_section(summary),
        limits_section(summary),
    ]
