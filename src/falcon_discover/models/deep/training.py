"""Training and asking a network: seeds, devices, threads, early stopping, batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from falcon_discover.exceptions import InputError
from falcon_discover.runtime.optional import require
from falcon_discover.runtime.types import Float32Array, FloatArray, IntArray

DEVICES = ("auto", "cpu", "cuda")
# Cells (rows times columns) that a network is asked about at once.
CELLS = {"cpu": 2**15, "cuda": 2**18}


@dataclass(frozen=True)
class Schedule:
    """How long and in which steps a network is trained."""

    batch_size: int
    max_epochs: int
    patience: int


def torch_for(what: str) -> Any:
    """Return torch, or say what needs it and how to install it."""
    return require("torch", extra="deep", what=what)


def chosen_device(device: str) -> str:
    """Return the device that a name stands for, here and now."""
    torch = torch_for("a deep model")
    if device not in DEVICES:
        raise InputError(f"device is {device!r}: choose one of {', '.join(DEVICES)}.")
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise InputError("device is 'cuda', and torch finds none here: use 'auto' or 'cpu'.")
    return "cuda" if there and device != "cpu" else "cpu"


@contextmanager
def seeded(seed: int, device: str) -> Iterator[None]:
    """Draw random numbers from a seed, and leave torch's own as they were."""
    torch = torch_for("a deep model")
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device == "cuda" else []):
        torch.manual_seed(seed)
        yield


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Limit torch's threads; None leaves them as they are."""
    torch = torch_for("a deep model")
    before = torch.get_num_threads()
    torch.set_num_threads(n_jobs or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Rows:
    """Numbers and codes of rows, on a device."""

    def __init__(self, numbers: Float32Array, codes: IntArray, device: str) -> None:
        torch = torch_for("a deep model")
        self.numbers = torch.as_tensor(numbers, device=device)
        self.codes = torch.as_tensor(codes, device=device)

    def __len__(self) -> int:
        return len(self.numbers)

    def parts(self, places: Any) -> tuple[Any, Any]:
        """Return the numbers and the codes of some rows; None where there are no such columns."""
        numbers, codes = self.numbers[places], self.codes[places]
        return (
            numbers if numbers.shape[1] else None,
            codes if codes.shape[1] else None,
        )

    def slices(self) -> list[slice]:
        """Return the rows in parts that fit into memory together with what a network makes."""
        width = self.numbers.shape[1] + self.codes.shape[1] + 1
        step = max(1, CELLS[self.numbers.device.type] // width)
        return [slice(start, start + step) for start in range(0, len(self), step)]


def train(
    network: Any,
    optimizer: Any,
    known: tuple[Rows, Any],
    held_out: tuple[Rows, Any],
    schedule: Schedule,
    seed: int,
) -> int:
    """Train until the loss of held-out rows rises, keep the best weights, and return their epoch.

    Parameters
    ----------
    known, held_out : rows and the codes of their classes, on the network's device
    """
    torch = torch_for("a deep model")
    rows, targets = known
    shuffled = torch.Generator().manual_seed(seed)
    best, best_loss, best_epoch = deepcopy(network.state_dict()), np.inf, 0
    for epoch in range(1, schedule.max_epochs + 1):
        network.train()
        order = torch.randperm(len(rows), generator=shuffled).to(targets.device)
        for places in order.split(schedule.batch_size):
            optimizer.zero_grad(set_to_none=True)
            logits = network(*rows.parts(places))
            torch.nn.functional.cross_entropy(logits, targets[places]).backward()
            optimizer.step()
        loss = _loss(network, *held_out)
        if loss < best_loss:
            best, best_loss, best_epoch = deepcopy(network.state_dict()), loss, epoch
        elif epoch - best_epoch >= schedule.patience:
            break
    network.load_state_dict(best)
    network.eval()
    return best_epoch


def _loss(network: Any, rows: Rows, targets: Any) -> float:
    torch = torch_for("a deep model")
    logits = logits_of(network, rows)
    return float(torch.nn.functional.cross_entropy(logits, targets))


def logits_of(network: Any, rows: Rows) -> Any:
    """Return the network's logits of rows, asked in parts."""
    torch = torch_for("a deep model")
    network.eval()
    with torch.inference_mode():
        return torch.cat([network(*rows.parts(part)) for part in rows.slices()])


def probabilities(network: Any, rows: Rows) -> FloatArray:
    """Return the probability of each class, one row each."""
    logits = logits_of(network, rows).double().softmax(dim=1)
    found: FloatArray = logits.cpu().numpy()
    return found
