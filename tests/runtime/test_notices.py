"""What is noticed stays with the audit it belongs to, and foreign warnings stay with nobody."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from falcon_discover import DataWarning, discover
from falcon_discover.models.fitting import fit_backbone
from falcon_discover.models.proba import proba
from falcon_discover.report import About, Report
from falcon_discover.runtime import notices


def odd_table(name: str, n: int = 40) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A small table with a constant column of the given name, labels and scores."""
    rng = np.random.default_rng(len(name))
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), name: 1.0})
    p = 1 / (1 + np.exp(-3 * X["a"].to_numpy()))
    return X, (rng.uniform(size=n) < p).astype(int), p


def noted(name: str) -> list[str]:
    X, y, p = odd_table(name)
    with notices.collected() as notes:
        found = discover(X, y, p, ranker="gated_confidence", cv=2, n_regions=2, random_state=0)
        report = Report.of(found, About(contributions=False))
    return [*notes, *report.summary["notes"]]


def test_audits_in_threads_keep_their_notes_apart():
    names = [f"flat_{i}" for i in range(8)]
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(noted, names))
    for name, notes in zip(names, together, strict=True):
        own = [note for note in notes if "is constant" in note]
        assert own == [f"column '{name}' is constant: distances ignore it."]
    # Libraries put filters of their own back in any order; none of ours, which hide, may be left.
    kinds = (DataWarning, ConvergenceWarning, LinAlgWarning)
    ours = [line for line in warnings.filters if line[0] == "ignore" and line[2] in kinds]
    assert [line for line in ours if line not in before] == []


@pytest.mark.parametrize("n", [20, 30, 60])
def test_small_audits_have_no_warnings_but_their_own(n):
    """Scores of two values make signals that are almost the same."""
    X, y, p = odd_table("flat", n)
    with warnings.catch_warnings(record=True) as foreign:
        warnings.simplefilter("always")
        with notices.collected() as notes:
            found = discover(X, y, np.where(p > 0.5, 0.99, 0.01), random_state=0)
            report = Report.of(found, About(contributions=True))
    assert [str(warning.message) for warning in foreign] == []
    told = [*notes, *report.summary["notes"]]
    assert not any("Newton" in note or "ill-conditioned" in note for note in told)


def test_a_hidden_warning_comes_back_when_the_last_thread_is_done():
    inside, leave = threading.Event(), threading.Event()

    def long_work() -> None:
        with notices.ignoring(ConvergenceWarning):
            inside.set()
            leave.wait(10)

    def is_heard() -> bool:
        with warnings.catch_warnings(record=True) as heard:
            warnings.warn("did not converge", ConvergenceWarning, stacklevel=1)
        return bool(heard)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        before = list(warnings.filters)
        worker = threading.Thread(target=long_work)
        worker.start()
        inside.wait(10)
        with notices.ignoring(ConvergenceWarning):
            assert not is_heard()
        assert not is_heard()  # the other thread still needs the filter
        leave.set()
        worker.join()
        assert is_heard()
        assert list(warnings.filters) == before


def test_filters_that_threads_of_a_library_lose_are_put_back():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "mine")
        before = list(warnings.filters)
        with notices.ignoring(ConvergenceWarning), notices.ignoring.in_threads():
            with notices.ignoring.in_threads():
                # What scikit-learn's threads say of lists that another thread has just emptied.
                warnings.warn(
                    "`sklearn.utils.parallel.delayed` should be used with",
                    UserWarning,
                    stacklevel=1,
                )
                warnings.filters[:] = []
            assert warnings.filters == []
        assert list(warnings.filters) == before
        warnings.warn("mine is still hidden", UserWarning, stacklevel=1)


def test_filters_that_are_set_while_threads_work_stay():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with notices.ignoring.in_threads():
            warnings.filterwarnings("ignore", "new")
        warnings.warn("new, and hidden", UserWarning, stacklevel=1)


def test_forests_leave_the_filters_of_warnings_as_they_were():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5_000, 3)).astype(np.float32)
    codes = (rows[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in "abc":
            warnings.filterwarnings("ignore", name)
        before = set(warnings.filters)
        for seed in range(4):
            model = fit_backbone("random_forest", rows[:300], codes[:300], seed=seed, n_jobs=4)
            assert set(warnings.filters) == before
        proba(model, rows)
        assert set(warnings.filters) == before


def test_a_filter_that_the_user_has_set_stays():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        before = list(warnings.filters)
        with notices.ignoring(ConvergenceWarning):
            pass
        assert list(warnings.filters) == before


def test_what_nobody_collects_is_warned_about():
    X, y, p = odd_table("flat")
    with pytest.warns(DataWarning, match="is constant") as heard:
        discover(X, y, p, ranker="gated_confidence", random_state=0)
    assert heard[0].filename == __file__


def test_an_inner_collector_keeps_its_notes_from_the_outer_one():
    with notices.collected() as outer:
        notices.warn("one")
        with notices.collected() as inner:
            notices.warn("two")
        notices.warn("three")
    assert (list(outer), list(inner)) == (["one", "three"], ["two"])
