from __future__ import annotations

import os
import signal

import pytest

from falcon_discover.interrupts import interrupt_after


class Fragile:
    __module__ = "xgboost.sklearn"


@pytest.fixture(autouse=True)
def listening():
    """A job in the background may have been started deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(model, done):
    with interrupt_after(model):
        os.kill(os.getpid(), signal.SIGINT)
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
