"""What audits of public data sets found, as something to compare one's own audit with."""

from __future__ import annotations

from typing import NamedTuple

from falcon_discover.settings import PAPER


class PublicAudit(NamedTuple):
    """Confident predictions of a public data set, over the test rows of all seeds."""

    confident: int
    wrong: int

    @property
    def rate(self) -> float:
        """Confident errors per confident prediction."""
        return self.wrong / self.confident


# The data sets of the paper, each with the best model of the library, at the paper's threshold;
# from results/beyond/risk_in_the_large.csv, which a test holds them to.
PUBLIC_AUDITS = {
    "adult": PublicAudit(23_604, 457),
    "bank_marketing": PublicAudit(27_049, 354),
    "miniboone_subset": PublicAudit(4_294, 99),
    "magic_telescope": PublicAudit(9_025, 300),
    "nomao": PublicAudit(25_254, 192),
    "spambase": PublicAudit(3_159, 43),
    "phoneme": PublicAudit(2_526, 23),
}


def public_rates(tau: object, n_classes: int) -> tuple[float, float] | None:
    """Return the lowest and highest rate of confident errors in the public audits.

    They had two classes and the paper's threshold: other audits cannot be compared with them.

    Examples
    --------
    >>> low, high = public_rates(0.9, 2)
    >>> round(low, 4), round(high, 4)
    (0.0076, 0.0332)
    >>> public_rates(0.8, 2), public_rates(0.9, 3)
    (None, None)
    """
    if tau != PAPER.tau or n_classes != 2:
        return None
    rates = [audit.rate for audit in PUBLIC_AUDITS.values()]
    return min(rates), max(rates)
