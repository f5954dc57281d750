"""Runs that share a Dask cluster, and clusters that fail: the right rows, or a sentence."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from dataclasses import replace
from functools import partial
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

pytest.importorskip("distributed")
from distributed import Client, LocalCluster
from distributed.comm.core import CommClosedError

from falcon_discover import FalconDiscover, InputError, datasets, load
from falcon_discover.scoring import cluster
from falcon_discover.scoring.cluster import dask_engine
from falcon_discover.scoring.plan import Part, Plan, Source
from falcon_discover.scoring.run import local, score_files
from falcon_discover.scoring.scorer import score_part
from falcon_discover.signals.neighbours.index import NeighbourIndex

pytestmark = pytest.mark.cluster
SCORING = partial(score_part, identity=None)

NUMBERS = ["signal_a", "signal_b", "load", "height"]
NEW = datasets.make_planted(60, random_state=1).X[NUMBERS].fillna(0)


def saved(path, seed):
    train = datasets.make_planted(200, random_state=seed)
    falcon = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau=0.8)
    falcon.fit(train.X[NUMBERS].fillna(0), train.y).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audits")
    return [saved(folder / f"{seed}.falcon", seed) for seed in (0, 5)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "new.parquet"
    NEW.to_parquet(path)
    return path


@pytest.fixture
def parts(audits, data):
    return Plan.of(audits[0], [data], part_rows=10).parts()


@pytest.fixture
def standing():
    """A cluster that was there before the run and stays after it; its worker is a thread."""
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address="127.0.0.1:0",
    ) as found:
        yield found


def by_number(scored):
    return {part.number: part.data for part in scored}


def test_two_runs_with_other_audits_do_not_get_each_others(standing, audits, parts):
    one, other = (
        dask_engine(standing.scheduler_address)(audit, parts, SCORING) for audit in audits
    )
    found = [[next(one)], list(other)]
    found[0] += list(one)
    for audit, scored in zip(audits, found, strict=True):
        assert by_number(scored) == by_number(local(n_jobs=1)(audit, parts, SCORING))


def test_two_runs_may_share_an_audit_and_leave_nothing_behind(standing, audits, parts):
    one, other = (
        dask_engine(standing.scheduler_address)(audits[0], parts, SCORING) for _ in range(2)
    )
    first = next(one)
    assert len(list(other)) == 6
    assert by_number([first, *one]) == by_number(local(n_jobs=1)(audits[0], parts, SCORING))
    worker = next(iter(standing.workers.values()))
    assert worker.falcon_discover == {}
    assert not [name for name in worker.plugins if name.startswith("falcon")]
    assert not [name for name in standing.scheduler.worker_plugins if name.startswith("falcon")]


def test_a_worker_without_the_audit_refuses(standing, parts):
    with Client(standing.scheduler_address) as client:
        future = client.submit(cluster._on_worker, "absent", SCORING, parts[0])
        with pytest.raises(InputError, match="did not receive what the run needs"):
            future.result()


def test_a_worker_in_another_folder_reads_the_same_file(audits, data, tmp_path, monkeypatch):
    monkeypatch.chdir(data.parent)
    part = Plan.of(audits[0], [data.relative_to(data.parent)]).parts()[0]
    NEW[::-1].to_parquet(tmp_path / data.name)
    monkeypatch.chdir(tmp_path)
    falcon = load(audits[0])
    found = pd.read_parquet(BytesIO(score_part(falcon, part, None).data))
    assert np.array_equal(found["p"], falcon.predict_proba(NEW)[:, 1])
    assert set(found["file"]) == {data.name}


def test_a_worker_that_sees_another_file_refuses(audits, data):
    there = replace(Source.of(data), modified=1)
    with pytest.raises(InputError, match="is a different file on"):
        score_part(load(audits[0]), Part(0, there, 0, 10), None)
    gone = replace(there, path=data.parent / "gone.parquet")
    with pytest.raises(InputError, match=r"gone.parquet cannot be read on .*No such file"):
        score_part(load(audits[0]), Part(0, gone, 0, 10), None)


def test_a_worker_with_other_code_is_refused(standing, audits, parts, monkeypatch):
    mine, answers = cluster.code(), iter([("0.0.9", "abc")])
    monkeypatch.setattr(cluster, "code", lambda: next(answers, mine))
    with pytest.raises(
        InputError, match=rf"runs a different build .*\({mine[0]}\) than .*\(0.0.9\)"
    ):
        list(dask_engine(standing.scheduler_address)(audits[0], parts, SCORING))


def test_a_worker_that_cannot_load_the_audit_says_why(standing, parts):
    engine = dask_engine(standing.scheduler_address)
    with pytest.raises(InputError, match=r"the worker tcp.* cannot load .*saved audit"):
        list(engine(b"no audit", parts, SCORING))


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            Exception("ModuleNotFoundError(\"No module named 'x'\")"),
            "does not have falcon-discover",
        ),
        (AttributeError("no attribute 'KeptOnWorkers'"), "does not have falcon-discover"),
        (CommClosedError("Stream is closed"), "perhaps out of memory"),
        (Exception("CommClosedError('Stream is closed')"), "perhaps out of memory"),
    ],
)
def test_a_worker_that_cannot_take_part_is_said_in_a_sentence(error, sentence):
    class Failing:
        status = "closed"

        def register_plugin(self, plugin):
            raise error

    with pytest.raises(InputError, match=sentence), cluster.on_workers(Failing(), "key", dict):
        pass


def test_without_workers_a_run_ends_and_says_how_to_resume(standing, audits, parts, monkeypatch):
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster, "WITHOUT_WORKERS_SECONDS", 0.3)
    scored = dask_engine(standing.scheduler_address)(audits[0], parts, SCORING)
    next(scored)
    standing.scale(0)
    with pytest.raises(InputError, match=r"no worker for 0.3 seconds.*run the same command again"):
        list(scored)


def test_a_scheduler_that_goes_away_is_said_in_a_sentence(
    standing, audits, parts, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.1)
    address = standing.scheduler_address

    def deserted(audit, parts, task):
        scored = dask_engine(address)(audit, parts, task)
        yield next(scored)
        standing.close()
        yield from scored

    (tmp_path / "a.falcon").write_bytes(audits[0])
    with pytest.raises(InputError, match=r"Dask scheduler disappeared.*kept"):
        score_files(tmp_path / "a.falcon", [data], tmp_path / "out", part_rows=10, engine=deserted)
    assert list((tmp_path / "out").glob("part-*"))
    done = score_files(tmp_path / "a.falcon", [data], tmp_path / "out", part_rows=10)
    assert 0 < done.scored_now < 6


@pytest.mark.parametrize("said", [b"\x01", b"\xff" * 9, (8).to_bytes(8, "little") + b"1234"])
def test_a_server_that_falls_silent_is_no_scheduler(said, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.3)
    over = threading.Event()

    def greet(server):
        connection, _ = server.accept()
        with connection:
            connection.sendall(said)
            over.wait()

    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = threading.Thread(target=greet, args=[server])
        peer.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}"):
            cluster.check_reachable(address)
        assert time.monotonic() - started < 5
        over.set()
        peer.join()


def test_threads_are_counted_quietly_in_a_process_that_may_not_start_others(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    index = NeighbourIndex(np.eye(3, dtype=np.float32), n_jobs=-1)
    assert index._threads >= 1
