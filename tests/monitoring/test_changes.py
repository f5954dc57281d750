"""What counts as a change, and from when on it is an alarm: by hand, and against scipy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from falcon_discover.monitoring.alarm import alarm_of, far_rows
from falcon_discover.monitoring.baseline import Counted
from falcon_discover.monitoring.cells import Cells
from falcon_discover.monitoring.drift import Domain, drift, p_value_of
from falcon_discover.monitoring.sample import RowSample


def counted(name, what, values):
    cells = Cells.of(name, values, "categorical" if values.dtype == object else "numeric")
    return Counted(what, cells, cells.weighed(values, None), len(values))


def batch(known, *columns):
    """Return the counts of a batch, as far as changes go by them."""
    counts = tuple(one.cells.counts(values) for one, values in zip(known, columns, strict=True))
    return SimpleNamespace(counts=counts)


def test_the_p_value_of_categories_is_that_of_pearsons_test():
    known = counted("x", "column", np.repeat(np.array(["a", "b", "c"], dtype=object), [60, 30, 10]))
    counts = known.cells.counts(np.repeat(np.array(["a", "b"], dtype=object), [25, 25]))
    own, other = counts / counts.sum(), known.counts / known.counts.sum()
    # Without the cells that are empty here and there.
    table = np.array([[25, 25, 0], [60, 30, 10]])
    expected = chi2_contingency(table, correction=False).pvalue
    assert p_value_of(known, counts.astype(float), own, other) == pytest.approx(expected)


def test_a_column_has_changed_from_the_least_distance_on():
    # At the audit all values were 1; of the batch 5 in 100 are 0, or fewer.
    known = (counted("x", "column", np.ones(100_000)),)
    for few, changed in ((5_000, True), (4_999, False)):
        values = np.repeat([0.0, 1.0], [few, 100_000 - few])
        found = drift(batch(known, values), SimpleNamespace(counted=known))
        assert bool(found.loc[0, "changed"]) is changed


def told_apart(audited, rows):
    samples = [
        RowSample.of(pd.DataFrame({"x": values}), np.arange(len(values), dtype=np.uint64))
        for values in (audited, rows)
    ]
    baseline = SimpleNamespace(
        sample=samples[0],
        sample_weight=np.ones(len(audited)),
        counted=(counted("x", "column", audited),),
    )
    return Domain.of(baseline, samples[1])


def test_rows_that_all_look_alike_are_not_new():
    alike = told_apart(np.ones(60), np.ones(30))
    assert (alike.auroc, alike.novel, alike.rows) == (0.5, 0.0, 30)
    apart = told_apart(np.arange(60.0), np.arange(1_000.0, 1_030.0))
    assert apart.auroc > 0.99
    assert apart.novel > 0.9


SIGNALS = (
    counted("confidence", "signal", np.arange(200.0)),
    counted("neighbour_distance", "column", np.arange(200.0)),
    counted("neighbour_distance", "signal", np.arange(200.0)),
)
CALM = {"rows": np.array([1_000]), "sums": np.zeros((1, 2), dtype=np.int64)}
USUAL = SimpleNamespace(counted=SIGNALS, risk=0.1, risk_spread=0.1, risk_error=0.01)


def signals_of(far: int, rows: int = 1_000):
    """Return a batch, some rows of which are further out than any audited one."""
    distance = np.where(np.arange(rows) < far, 1e6, 100.0)
    counts = batch(SIGNALS, np.zeros(rows), np.zeros(rows), distance).counts
    return SimpleNamespace(counts=counts, **CALM)


def test_far_rows_are_those_beyond_the_last_cut_of_the_neighbours_distance():
    far, rows, usual = far_rows(signals_of(300), USUAL)
    assert (far, rows) == (300, 1_000)
    # The last of 40 cuts leaves half a fortieth of the 200 audited rows beyond it: 2 of them.
    assert usual == pytest.approx(2 / 200)


@pytest.mark.parametrize("far", [0, 199, 200])
@pytest.mark.parametrize("novel", [0.05, 0.199, 0.2])
def test_one_row_in_five_that_is_new_makes_a_batch_unlike_the_audit(far, novel):
    # One in twenty is surely more than usual, but not many.
    found = alarm_of(signals_of(far), USUAL, Domain(0.6, novel, 1_000))
    assert found == ("unlike_audited" if far >= 200 or novel >= 0.2 else "as_audited")
