from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from falcon_discover import datasets
from falcon_discover.runtime.interrupts import Terminated, end_orderly, interrupt_after


class Fragile:
    __module__ = "xgboost.sklearn"


@pytest.fixture(autouse=True)
def listening():
    """A job in the background may have been started deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(model, done, number=signal.SIGINT):
    with interrupt_after(model):
        os.kill(os.getpid(), number)
        done.append(True)


def test_an_interrupt_waits_until_a_fragile_fit_is_done():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(Fragile(), done)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_models_are_interrupted_at_once():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(object(), done)
    assert not done


def test_a_program_that_ignores_interrupts_goes_on_ignoring_them():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = []
    interrupted(Fragile(), done)
    assert done


def test_sigterm_waits_for_a_fragile_fit_too_and_ends_as_an_interrupt():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        end_orderly()
        done = []
        with pytest.raises(Terminated):
            interrupted(Fragile(), done, signal.SIGTERM)
        assert done
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_program_whose_parent_ignores_sigterm_goes_on_ignoring_it():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        end_orderly()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def started(*words):
    """Start a command and wait until its first step begins."""
    process = subprocess.Popen(
        [sys.executable, "-m", "falcon_discover", *map(str, words)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        # A job in the background may have been started deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr.readline().startswith("[")
    return process


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "Interrupted. Nothing was written."),
        (signal.SIGTERM, 143, "Stopped. Nothing was written."),
    ],
)
def test_a_signal_half_way_leaves_nothing_and_says_so(tmp_path, number, code, words):
    planted, out = datasets.make_planted(2_000, random_state=0), tmp_path / "out"
    planted.X.assign(y=planted.y).to_parquet(tmp_path / "rows.parquet")
    rows = ("audit", tmp_path / "rows.parquet", "--target", "y", "--out", out)
    process = started(*rows, "--backbone", "random_forest")
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors.strip().endswith(words)
    assert not out.exists()


def test_sigterm_while_results_are_written_leaves_nothing(tmp_path):
    """The writer stops half way and waits; what it has begun is gone when it ends."""
    script = f"""
import os, signal
from pathlib import Path
import pandas as pd
from falcon_discover.cli.common import command
from falcon_discover.data.files import write_results
from falcon_discover.runtime.interrupts import end_orderly

end_orderly()
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGTERM)
review = pd.DataFrame({{"row": [1]}})
try:
    command(lambda: write_results(Path({str(tmp_path)!r}), review, {{}}))()
except Exception as error:
    raise SystemExit(error.exit_code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 143, done.stderr
    assert list(tmp_path.iterdir()) == []
