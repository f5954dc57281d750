"""Arrays that no figure can be computed of are refused, by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from falcon_discover import InputError, metrics

Y, P = [0, 1, 1], [0.1, 0.9, 0.95]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.ece(Y, ["a", "b", "c"]), "p must contain numbers"),
        (lambda: metrics.ece(Y, np.array(P) * 1j), "p must contain numbers"),
        (lambda: metrics.ece(Y, np.ma.masked_greater(P, 0.5)), "p contains masked values"),
        (lambda: metrics.ece(Y, P, n_bins="many"), "n_bins is 'many'"),
        (lambda: metrics.ece(Y, P, n_bins=2.5), "n_bins is 2.5"),
        (lambda: metrics.brier(sparse.csr_matrix([[1], [0]]), P), "y must contain only 0/1"),
        (lambda: metrics.brier(Y, np.array(P)[:, None]), "p has the shape"),
        (lambda: metrics.fc_auroc(Y, [10**400, 1, 2]), "score must contain numbers"),
        (lambda: metrics.fc_auroc(Y, np.ones((3, 2))), "score has the shape"),
        (lambda: metrics.fc_auroc([[0], [1, 1]], P), "fc cannot be read as an array"),
        (lambda: metrics.aurc(np.array(Y, dtype="datetime64[s]"), P), "error must contain only"),
        (lambda: metrics.eligible_auroc(Y, P, 0.9), "confidence has the shape"),
        (lambda: metrics.eligible_auroc(Y, P, P[:2]), "they must match"),
        (lambda: metrics.eligible_auroc(Y, P, P, tau="high"), "tau is 'high'"),
        (lambda: metrics.label_auroc(Y, ["a", "b", "c"]), "p must contain numbers"),
        (lambda: metrics.errors_among_surest(Y, P, k={}), "k is a dict"),
        (lambda: metrics.false_confidence(Y, P, tau=None), "tau is None"),
        (lambda: metrics.brier(Y, P, sample_weight=[1, 1, 1e300]), "at most 1e"),
    ],
)
def test_what_is_no_array_of_numbers_is_named(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_only_eligible_rows_need_a_score():
    assert metrics.eligible_auroc([1, 0, 0], [0.3, 0.1, np.nan], [0.95, 0.99, 0.6]) == 1.0
