"""Run the stronger predictors of the benchmark, frozen, several at once, on a GPU if there is one.

    python scripts/comparators.py --store bench-store --workers 12 --cuda ft_transformer,saint

Each cell (data set, seed, model) that the store lacks is fitted and audited in a process of its
own with one thread; the largest come first. Finished cells are whole and stay, whenever the
script is cut off: the same command goes on. It needs torch, scikit-learn, pandas and packages of
Python alone.

Where only a few files come back from the machine with the GPU:

    python scripts/comparators.py --list > cells.txt                            # here
    python scripts/comparators.py --cells cells.txt --pack out/runs ...         # there
    python scripts/comparators.py --unpack out/runs.*.tar                       # here again
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import tarfile
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from falcon_discover.bench import frozen, plan
from falcon_discover.bench.store import RunKey, Store
from falcon_discover.datasets.registry import REGISTRY
from falcon_discover.models import library
from falcon_discover.runtime.atomic import atomic_write
from falcon_discover.settings import PAPER

# Seconds of a fit per thousand rows and, where attention grows with them, hundred columns.
COST = {
    "realmlp": (8.0, 0.0),
    "realmlp_smoothed": (8.0, 0.0),
    "ft_transformer": (1.0, 4.0),
    "saint": (2.0, 4.0),
    "saint_rows": (1.0, 2.0),
}
ARCHIVE_BYTES = 15 * 2**20
# Read when libraries are loaded: one thread for each of several processes.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def cost(key: RunKey) -> float:
    """Return about how long a cell takes, in any unit."""
    data = REGISTRY[key.dataset]
    rows, columns = COST.get(key.backbone, (0.05, 0.0))
    return data.rows / 1000 * (rows + columns * data.features / 100)


def missing(store: Store, keys: Iterable[RunKey]) -> list[RunKey]:
    """Return the cells that are not done, the largest first."""
    return sorted((key for key in keys if not store.done(key)), key=cost, reverse=True)


def wanted(options: argparse.Namespace) -> list[RunKey]:
    """Return the cells that were asked for."""
    if options.cells is not None:
        return [key_of(line) for line in options.cells.read_text().split()]
    models = options.only or list(plan.FROZEN_MODELS)
    names = options.datasets or list(plan.DATASETS)
    return [RunKey(name, seed, model) for name in names for seed in PAPER.seeds for model in models]


def key_of(cell: str) -> RunKey:
    """Return the cell that a line of --list names."""
    name, seed, model = cell.split("/")
    return RunKey(name, int(seed.removeprefix("seed-")), model)


def runnable(keys: Sequence[RunKey]) -> list[RunKey]:
    """Return the cells whose packages are here, and say which are left out."""
    lacking = sorted({k.backbone for k in keys if not _installed(k.backbone)})
    if lacking:
        say(f"left out, not installed: {', '.join(lacking)}")
    return [key for key in keys if key.backbone not in lacking]


def _installed(model: str) -> bool:
    everything: dict[str, Any] = {**library.CANDIDATES, **library.COMPARATORS, **library.DEEP}
    return bool(everything[model].installed)


def work(folder: Path, device: str, cells: Any, told: Any) -> None:
    """Do cells until there are no more or one fails; a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    store = Store(folder, frozen.settings())
    while True:
        try:
            key = cells.get(timeout=1.0)
        except queue.Empty:
            return
        started = time.perf_counter()
        failure = ""
        try:
            with store.claim(key) as mine:
                if mine:
                    store.write(key, *frozen.audit_frozen(key, 1, device))
        except Exception:
            failure = traceback.format_exc()
        told.put((key, time.perf_counter() - started, failure))
        if failure:
            return


class Pool:
    """Processes that share a queue of cells."""

    def __init__(self, folder: Path, device: str, keys: Sequence[RunKey], told: Any) -> None:
        self.context = multiprocessing.get_context("spawn")
        self.keys, self.cells = frozenset(keys), self.context.Queue()
        self.arguments = (folder, device, self.cells, told)
        self.processes: list[Any] = []
        for key in keys:
            self.cells.put(key)

    def start(self, count: int) -> None:
        """Start some more processes, which take their threads from the environment."""
        os.environ.update(ONE_THREAD)
        for _ in range(count):
            self.processes.append(
                self.context.Process(target=work, args=self.arguments, daemon=True)
            )
            self.processes[-1].start()

    def alive(self) -> bool:
        """Return whether anybody is at work."""
        return any(process.is_alive() for process in self.processes)

    def stop(self) -> None:
        """End all of them now."""
        self.cells.cancel_join_thread()
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(timeout=10)


def run(store: Store, keys: list[RunKey], options: argparse.Namespace, pack: Pack | None) -> int:
    """Do cells side by side until all are done or the time is over; return how many are not."""
    deadline = time.monotonic() + options.limit_seconds
    told = multiprocessing.get_context("spawn").Queue()
    on_gpu = [key for key in keys if key.backbone in options.cuda]
    on_cpu = [key for key in keys if key.backbone not in options.cuda]
    pools = [
        Pool(store.folder, "cuda", on_gpu, told),
        Pool(store.folder, "cpu", on_cpu, told),
    ]
    failed, left = 0, len(keys)
    try:
        pools[0].start(min(options.cuda_workers, len(on_gpu)))
        pools[1].start(min(options.workers, len(on_cpu)))
        while left and time.monotonic() < deadline:
            try:
                key, seconds, failure = told.get(timeout=1.0)
            except queue.Empty:
                if not any(pool.alive() for pool in pools):
                    break
                continue
            left -= 1
            say(f"{key}: {failure or 'done'}, {seconds:.0f} s; {left} left")
            if failure:
                failed += 1
                # What broke one process, such as a lost GPU, does not spoil the cells after it.
                next(pool for pool in pools if key in pool.keys).start(1)
            elif pack is not None and store.done(key):
                pack.add(key)
    finally:
        for pool in pools:
            pool.stop()
    say(f"{left} cell(s) left, {failed} failed")
    return left + failed


class Pack:
    """A few archives with the finished cells, each whole at any moment."""

    def __init__(self, store: Store, stem: Path) -> None:
        self.store, self.stem = store, stem
        self.keys: list[RunKey] = []
        self.number, self.size = 0, 0
        stem.parent.mkdir(parents=True, exist_ok=True)

    def add(self, key: RunKey) -> None:
        """Put a cell into the last archive, or into a new one where that is full."""
        size = sum(file.stat().st_size + 1024 for file in self.store.path(key).iterdir())
        if self.keys and self.size + size > ARCHIVE_BYTES:
            self.keys, self.size, self.number = [], 0, self.number + 1
        self.keys.append(key)
        self.size += size
        path = self.stem.with_name(f"{self.stem.name}.{self.number}.tar")
        with atomic_write(path) as (file,), tarfile.open(fileobj=file, mode="w") as archive:
            for known in self.keys:
                archive.add(self.store.path(known), arcname=str(known))


def unpack(folder: Path, archives: Sequence[Path]) -> int:
    """Put packed cells into a store, and return how many were new."""
    store = Store(folder, frozen.settings())
    added = 0
    for path in archives:
        with tarfile.open(path) as archive:
            whole = [name for name in archive.getnames() if name.endswith("/DONE")]
            for cell in (name.rpartition("/")[0] for name in whole):
                key = key_of(cell)
                if store.done(key):
                    continue
                members = [m for m in archive.getmembers() if m.name.startswith(f"{cell}/")]
                # The mark comes last: a cell that is cut off here is not done.
                members.sort(key=lambda member: member.name.endswith("/DONE"))
                archive.extractall(store.folder, members, filter="data")
                store.report(key)
                added += 1
    return added


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def names(text: str) -> list[str]:
    """Return the names in a list with commas."""
    return [name for name in text.split(",") if name]


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--store", type=Path, default=Path("bench-store"), help="folder of the benchmark"
    )
    parser.add_argument("--only", type=names, help="models, with commas")
    parser.add_argument("--datasets", type=names, help="data sets, with commas")
    parser.add_argument("--cells", type=Path, help="file with a cell a line, as --list writes it")
    parser.add_argument("--list", action="store_true", help="print the missing cells and stop")
    parser.add_argument("--workers", type=int, default=1, help="cells at once on the CPU")
    parser.add_argument("--cuda", type=names, default=[], help="models that run on the GPU")
    parser.add_argument("--cuda-workers", type=int, default=4, help="cells at once on the GPU")
    parser.add_argument("--limit-seconds", type=float, default=float("inf"))
    parser.add_argument("--pack", type=Path, help="archives to keep: PACK.0.tar and so on")
    parser.add_argument("--unpack", type=Path, nargs="+", help="archives to put into the store")
    return parser.parse_args(arguments)


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """Leave in an orderly way when asked to end."""

    def leave(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)
    with contextlib.suppress(KeyboardInterrupt):
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for."""
    options = options_of(arguments)
    folder = options.store / plan.FROZEN
    if options.unpack:
        say(f"{unpack(folder, options.unpack)} new cell(s) in {folder}")
        return 0
    store = Store(folder, frozen.settings())
    asked = wanted(options)
    keys = missing(store, asked)
    if options.list:
        for key in keys:
            say(str(key))
        return 0
    pack = None
    if options.pack is not None:
        pack = Pack(store, options.pack)
        for key in asked:
            if store.done(key):
                pack.add(key)
    keys = runnable(keys)
    undone = len(keys)
    with stopping():
        undone = run(store, keys, options, pack)
    return 1 if undone else 0


if __name__ == "__main__":
    sys.exit(main())
