from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets, load
from falcon_discover.cli import app
from falcon_discover.models.adapter import Probe
from falcon_discover.rankers import RANKERS
from falcon_discover.scoring import cluster, rows
from falcon_discover.scoring.plan import Part, Plan, Source
from falcon_discover.scoring.run import local, score_files
from falcon_discover.scoring.scorer import score_part, score_table
from falcon_discover.signals.neighbours.index import LabelledIndex

NUMBERS = ["signal_a", "signal_b", "load", "height"]
TRAIN = datasets.make_planted(400, random_state=0)
NEW = datasets.make_planted(900, random_state=1).X[NUMBERS]


def fitted(estimator=None, **settings):
    estimator = estimator or HistGradientBoostingClassifier(max_iter=20)
    falcon = FalconDiscover(estimator, cv=2, random_state=0, tau=0.8, **settings)
    return falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A saved audit, and new rows in one file and in a folder of two."""
    folder = tmp_path_factory.mktemp("engines")
    falcon = fitted()
    falcon.save(folder / "audit.falcon")
    table = NEW.assign(key=[f"case-{i}" for i in range(len(NEW))])
    table.to_parquet(folder / "new.parquet", row_group_size=170)
    (folder / "many").mkdir()
    table[:500].to_parquet(folder / "many" / "a.parquet")
    table[500:].to_parquet(folder / "many" / "b.parquet")
    np.save(folder / "expected.npy", falcon.score_samples(NEW))
    return folder


def assert_same(found, expected):
    """Linear models add up products in blocks: other batches may change the last digits."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def written(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def run(*words: object, code: int = 0):
    # One thread: the waiting policy that the command sets comes too late inside this process.
    threads = ["--jobs", "1"] if words[0] == "score" else []
    result = CliRunner().invoke(app, [*(str(word) for word in words), *threads])
    assert result.exit_code == code, result.output + result.stderr
    return result


def test_scores_are_those_of_score_samples_with_the_rows_identified(place, tmp_path):
    done = score_files(
        place / "audit.falcon", [place / "new.parquet"], tmp_path / "out", part_rows=200
    )
    assert (done.rows, done.parts, done.scored_now) == (900, 5, 5)
    found = pd.read_parquet(tmp_path / "out")
    columns = ["file", "row", "p", "predicted", "confidence", "suspicion", "risk"]
    assert list(found.columns) == columns
    assert found["row"].tolist() == list(range(900))
    assert set(found["file"]) == {str(place / "new.parquet")}
    assert_same(found["suspicion"], np.load(place / "expected.npy"))
    falcon = load(place / "audit.falcon")
    assert np.array_equal(found["p"], falcon.predict_proba(NEW)[:, 1])
    assert np.array_equal(found["predicted"], falcon.predict(NEW))


def test_many_files_and_a_column_of_ids(place, tmp_path):
    run("score", place / "audit.falcon", place / "many", "--id", "key", "--out", tmp_path / "out")
    found = pd.read_parquet(tmp_path / "out")
    assert found.columns[0] == "key"
    assert found["key"].tolist() == [f"case-{i}" for i in range(900)]
    assert_same(found["suspicion"], np.load(place / "expected.npy"))


def test_a_csv_file_gives_the_same_scores(place, tmp_path):
    NEW.to_csv(tmp_path / "new.csv", index=False)
    score_files(place / "audit.falcon", [tmp_path / "new.csv"], tmp_path / "out", part_rows=400)
    found = pd.read_parquet(tmp_path / "out")
    assert_same(found["suspicion"], np.load(place / "expected.npy"))


def test_rows_are_read_from_anywhere_in_a_file(place):
    path = place / "new.parquet"
    assert pq.ParquetFile(path).num_row_groups == 6
    for start, stop in ((0, 900), (0, 1), (169, 171), (170, 340), (333, 777), (899, 900)):
        found = rows.read(path, start, stop, ["height", "key"]).to_pandas()
        assert found["key"].tolist() == [f"case-{i}" for i in range(start, stop)]
        assert list(found.columns) == ["height", "key"]


# The two others learn from validation rows, and score like learned_oof.
@pytest.mark.parametrize("ranker", sorted(set(RANKERS) - {"learned", "learned_both"}))
def test_measuring_only_eligible_rows_changes_no_score(ranker):
    falcon = fitted(ranker=ranker)
    expected = falcon.score_samples(NEW)
    confidence = falcon.predict_proba(NEW).max(axis=1)
    assert 100 < (confidence >= 0.8).sum() < 800
    found = score_table(falcon, NEW)["suspicion"].to_numpy()
    if falcon.ranker_.wants_opinions:
        assert_same(found, expected)  # one of the opinions is a linear model's
    else:
        assert np.array_equal(found, expected)


def test_measuring_only_eligible_rows_of_a_linear_model_changes_the_last_digits_at_most():
    falcon = fitted(LogisticRegression())
    new = NEW.fillna(0)
    found = score_table(falcon, new)["suspicion"]
    assert_same(found, falcon.score_samples(new))


def test_rows_below_the_threshold_are_not_measured(place, monkeypatch):
    falcon = load(place / "audit.falcon")
    measured, asked = [], []
    search, ask = LabelledIndex.query, Probe.predict
    monkeypatch.setattr(
        LabelledIndex,
        "query",
        lambda self, rows, *rest, **how: (
            measured.append(len(rows)) or search(self, rows, *rest, **how)
        ),
    )
    monkeypatch.setattr(
        Probe,
        "predict",
        lambda self, rows, *, what="", **how: (
            asked.append(len(rows) if self is falcon.audit_.model and not what else 0)
            or ask(self, rows, what=what, **how)
        ),
    )
    found = score_table(falcon, NEW)
    assert measured == [(found["confidence"] >= 0.8).sum()]
    # The model is asked once for each row, beside the mixes.
    assert sum(asked) == len(NEW)
    unsure = NEW[(found["confidence"] < 0.8).to_numpy()]
    assert (score_table(falcon, unsure)["suspicion"] == 0).all()


def test_an_audit_without_rows_scores_by_gated_confidence_and_notes_it(place, tmp_path):
    load(place / "audit.falcon").save(tmp_path / "bare.falcon", "none")
    said = run("score", tmp_path / "bare.falcon", place / "new.parquet", "--out", tmp_path / "out")
    assert "note: this audit was saved without reference rows" in said.output
    found = pd.read_parquet(tmp_path / "out")
    assert "risk" not in found
    expected = load(place / "audit.falcon").examine(NEW).score("gated_confidence", 0.8)
    assert np.array_equal(found["suspicion"], expected)


def test_one_thread_and_two_write_the_same_bytes(place):
    part = Part(0, Source.of(place / "new.parquet"), 0, 900)
    one, two = (
        score_part(load(place / "audit.falcon", n_jobs=threads), part, "key") for threads in (1, 2)
    )
    assert one.data == two.data


def test_killed_in_the_middle_it_goes_on_and_ends_with_the_same_files(place, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "out"
    score_files(place / "audit.falcon", [place / "new.parquet"], whole, part_rows=30)
    words = ["score", place / "audit.falcon", place / "new.parquet", "--out", out]
    words = [sys.executable, "-m", "falcon_discover", *words, "--part-rows", 30, "--quiet"]
    process = subprocess.Popen([str(word) for word in words], start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while len(written(out)) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    visible = written(out)
    assert 3 <= len(visible) < 30, "the process ended before it could be killed"
    assert not (out / "_DONE.json").exists()
    expected = written(whole)
    assert all(expected[name] == data for name, data in visible.items())
    # Whatever was half-written has a name that no reader takes for a result.
    (out / ".part-00029.parquet-abc.partial").write_bytes(b"PAR1")
    done = score_files(place / "audit.falcon", [place / "new.parquet"], out, part_rows=30)
    assert done.scored_now == 30 - len(visible)
    assert written(out) == expected
    hidden = [path.name for path in out.iterdir() if path.name.startswith(".")]
    assert hidden == [".lock"]


def test_a_finished_run_is_not_done_again(place, tmp_path):
    words = ("score", place / "audit.falcon", place / "new.parquet", "--out", tmp_path / "out")
    assert "1 of them written now" in run(*words).output
    assert "0 of them written now" in run(*words).output


def test_another_run_into_the_same_folder_is_refused(place, tmp_path):
    data = tmp_path / "new.parquet"
    data.write_bytes((place / "new.parquet").read_bytes())
    out = tmp_path / "out"
    score_files(place / "audit.falcon", [data], out)
    before = written(out)
    words = ("score", place / "audit.falcon", data, "--out", out)
    assert "part_rows was 100000 and is 50" in run(*words, "--part-rows", 50, code=1).stderr
    assert "id was None and is 'key'" in run(*words, "--id", "key", code=1).stderr
    more = ("score", place / "audit.falcon", data, place / "new.parquet", "--out", out)
    assert "new.parquet is new" in run(*more, code=1).stderr
    NEW[:10].to_parquet(data)
    assert f"the file {data} has changed" in run(*words, code=1).stderr
    load(place / "audit.falcon").save(tmp_path / "other.falcon", "none")
    other = ("score", tmp_path / "other.falcon", data, "--out", out)
    assert "audit was" in run(*other, code=1).stderr
    assert written(out) == before


def test_only_one_run_at_a_time_writes_into_a_folder(place, tmp_path):
    def nested(audit, parts, identity):
        with pytest.raises(InputError, match="another run is writing"):
            score_files(place / "audit.falcon", [place / "new.parquet"], tmp_path / "out")
        yield from local()(audit, parts, identity)

    score_files(place / "audit.falcon", [place / "new.parquet"], tmp_path / "out", engine=nested)
    assert (tmp_path / "out" / "_DONE.json").exists()


def test_what_cannot_be_scored_is_said_before_anything_is_written(place, tmp_path):
    audit, out = place / "audit.falcon", tmp_path / "out"
    NEW.drop(columns="load").to_parquet(tmp_path / "lacking.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really PAR1")
    (tmp_path / "empty").mkdir()
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    sentences = {
        ("lacking.parquet",): "lacks the column 'load'",
        ("broken.parquet",): "cannot be read as parquet",
        ("absent.parquet",): "there is no file or folder",
        ("empty",): "has no parquet file",
        (str(place / "new.parquet"), str(place / "new.parquet")): "is given twice",
    }
    for data, sentence in sentences.items():
        stderr = run("score", audit, *(tmp_path / d for d in data), "--out", out, code=1).stderr
        assert sentence in stderr
    words = ("score", audit, place / "new.parquet", "--out")
    assert "lacks the column 'nr'" in run(*words, out, "--id", "nr", code=1).stderr
    assert "'p', but the results have a column" in run(*words, out, "--id", "p", code=1).stderr
    assert "at least 1" in run(*words, out, "--part-rows", 0, code=1).stderr
    assert "choose one of local, dask" in run(*words, out, "--engine", "spark", code=1).stderr
    assert "applies with --engine dask" in run(*words, out, "--scheduler", "x", code=1).stderr
    assert "is not empty" in run(*words, tmp_path / "used", code=1).stderr
    assert not out.exists()


def test_an_audit_fitted_on_an_array_takes_the_columns_in_their_order(tmp_path):
    X = TRAIN.X[NUMBERS].fillna(0).to_numpy()
    model = HistGradientBoostingClassifier(max_iter=20)
    falcon = FalconDiscover(model, cv=2, random_state=0).fit(X, TRAIN.y)
    falcon.save(tmp_path / "audit.falcon")
    NEW.assign(key=range(900)).to_parquet(tmp_path / "new.parquet")
    words = ("score", tmp_path / "audit.falcon", tmp_path / "new.parquet", "--out")
    assert "fitted on 4 columns without names" in run(*words, tmp_path / "out", code=1).stderr
    run(*words, tmp_path / "out", "--id", "key")
    found = pd.read_parquet(tmp_path / "out")
    assert_same(found["suspicion"], falcon.score_samples(NEW.to_numpy()))


def test_an_empty_file_has_no_part(place, tmp_path):
    pq.write_table(pa.table({name: pa.array([], pa.float64()) for name in NUMBERS}), tmp_path / "e")
    (tmp_path / "e").rename(tmp_path / "e.parquet")
    plan = Plan.of(b"", [tmp_path / "e.parquet", place / "new.parquet"], part_rows=450)
    assert [(part.start, part.stop) for part in plan.parts()] == [(0, 450), (450, 900)]


def test_inspect_says_what_is_inside_and_whether_training_rows_are(place, tmp_path):
    said = run("inspect", place / "audit.falcon").output
    assert "all, 400 of 400" in said
    assert "reference.npz" in said
    load(place / "audit.falcon").save(tmp_path / "bare.falcon", "none")
    said = run("inspect", tmp_path / "bare.falcon").output
    assert "none of 400" in said
    assert "reference.npz" not in said
    (tmp_path / "cut.falcon").write_bytes((place / "audit.falcon").read_bytes()[:-100])
    assert "cut off" in run("inspect", tmp_path / "cut.falcon", code=1).stderr


def test_dask_writes_the_same_bytes(place, tmp_path):
    words = ("score", place / "audit.falcon", place / "many", "--part-rows", 100, "--out")
    run(*words, tmp_path / "local")
    run(*words, tmp_path / "dask", "--engine", "dask", "--workers", 2)
    assert written(tmp_path / "dask") == written(tmp_path / "local")
    assert len(written(tmp_path / "dask")) == 9


def test_a_dask_worker_that_is_killed_changes_nothing(place, tmp_path):
    from distributed import default_client

    killed = []

    def murderous(audit, parts, identity):
        for scored in cluster.dask_engine(workers=2)(audit, parts, identity):
            if not killed:
                # Ctrl-C is for the process that was started, which ends its workers.
                blocked = default_client().run(signal.pthread_sigmask, signal.SIG_BLOCK, [])
                assert all(signal.SIGINT in signals for signals in blocked.values())
                assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
                killed.append(next(iter(default_client().run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            yield scored

    data = [place / "new.parquet"]
    score_files(place / "audit.falcon", data, tmp_path / "local", part_rows=20)
    done = score_files(
        place / "audit.falcon", data, tmp_path / "dask", part_rows=20, engine=murderous
    )
    assert killed
    assert done.scored_now == 45
    assert written(tmp_path / "dask") == written(tmp_path / "local")


def test_a_scheduler_that_cannot_be_reached_or_does_not_answer_is_said_in_time(place, tmp_path):
    def ask(address):
        words = ("score", place / "audit.falcon", place / "new.parquet", "--out", tmp_path / "out")
        started = time.monotonic()
        said = run(*words, "--engine", "dask", "--scheduler", address, code=1).stderr
        assert f"no Dask scheduler answers at {address}" in said
        assert time.monotonic() - started < 15

    ask("tcp://127.0.0.1:9")
    ask("nowhere at all")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ask(f"127.0.0.1:{silent.getsockname()[1]}")
