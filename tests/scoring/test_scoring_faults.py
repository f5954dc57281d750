"""Files that change, differ or lie in the way, folders that another run left: all are seen."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets
from falcon_discover.cli import app
from falcon_discover.scoring import rows, run
from falcon_discover.scoring.run import local, score_files

NUMBERS = ["signal_a", "signal_b", "load", "height"]
TRAIN = datasets.make_planted(200, random_state=0)
NEW = datasets.make_planted(60, random_state=1).X[NUMBERS].fillna(0)
OTHER = datasets.make_planted(60, random_state=2).X[NUMBERS].fillna(0)


@pytest.fixture(scope="module")
def falcon():
    model = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau=0.8)
    return model.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y)


@pytest.fixture(scope="module")
def audit(falcon, tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.falcon"
    falcon.save(path)
    return path


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "new.parquet"
    NEW.assign(key=[f"case-{i}" for i in range(len(NEW))]).to_parquet(path)
    return path


def scores(audit, data, out, **options):
    score_files(audit, data if isinstance(data, list) else [data], out, **options)
    return pd.read_parquet(out)


@pytest.mark.parametrize("ending", ["csv", "feather"])
def test_a_file_written_anew_is_read_anew(falcon, audit, tmp_path, ending):
    path = tmp_path / f"today.{ending}"
    for day, table in enumerate((NEW, OTHER[:40])):
        table = table.reset_index(drop=True)
        if ending == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_feather(path)
        found = scores(audit, path, tmp_path / f"out{day}")
        np.testing.assert_allclose(found["p"], falcon.predict_proba(table)[:, 1], rtol=1e-9)


def test_a_file_read_whole_is_dropped_after_the_run(audit, tmp_path):
    NEW.to_csv(tmp_path / "new.csv", index=False)
    scores(audit, tmp_path / "new.csv", tmp_path / "out")
    assert rows._whole.cache_info().currsize == 0


def test_ids_of_a_csv_file_are_kept_as_they_are_written(audit, tmp_path):
    ids = [f"{i:04}" if i else "NA" for i in range(len(NEW))]
    NEW.assign(key=ids).to_csv(tmp_path / "new.csv", index=False)
    found = scores(audit, tmp_path / "new.csv", tmp_path / "out", identity="key")
    assert found["key"].tolist() == ids


def test_a_csv_file_with_a_separator_too_many_is_refused(audit, tmp_path):
    text = NEW.to_csv(index=False).splitlines()
    (tmp_path / "new.csv").write_text("\n".join([text[0], *(f"{line}," for line in text[1:])]))
    with pytest.raises(InputError, match=r"line 2 of .* has 5 fields, but the header has 4"):
        scores(audit, tmp_path / "new.csv", tmp_path / "out")


def test_notes_on_how_a_file_was_read_are_among_the_notes_of_the_run(audit, tmp_path):
    NEW.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    done = score_files(audit, [tmp_path / "new.csv"], tmp_path / "out")
    assert "separated by semicolons" in done.notes[0]
    assert "decimal commas" in done.notes[1]


def test_without_names_in_the_audit_all_files_have_the_columns_of_the_first(tmp_path):
    model = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau=0.8)
    model.fit(TRAIN.X[NUMBERS].fillna(0).to_numpy(), TRAIN.y).save(tmp_path / "audit.falcon")
    NEW.to_parquet(tmp_path / "a.parquet")
    NEW[NUMBERS[::-1]].to_parquet(tmp_path / "b.parquet")
    both = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(InputError, match=r"b.parquet are not those of .*a.parquet in the same"):
        scores(tmp_path / "audit.falcon", both, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_replaced_while_it_is_scored_is_never_done(audit, data, tmp_path):
    def disturbed(saved, parts, identity):
        for number, scored in enumerate(local()(saved, parts, identity)):
            yield scored
            if number == 1:
                OTHER.assign(key="x").to_parquet(data)

    with pytest.raises(InputError, match=r"new.parquet has changed since the run began"):
        scores(audit, data, tmp_path / "out", part_rows=20, engine=disturbed)
    assert len(list((tmp_path / "out").glob("part-*"))) == 2
    assert not (tmp_path / "out" / "_DONE.json").exists()


def test_a_file_replaced_after_its_last_part_is_not_marked_as_done(audit, data, tmp_path):
    def disturbed(saved, parts, identity):
        yield from local()(saved, parts, identity)
        os.utime(data, ns=(0, 0))

    with pytest.raises(InputError, match=r"new.parquet has changed since the run began"):
        scores(audit, data, tmp_path / "out", engine=disturbed)
    assert not (tmp_path / "out" / "_DONE.json").exists()


def test_a_run_killed_while_its_plan_was_written_can_be_started_again(audit, data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").touch()
    (out / "._plan.json-ab12.partial").write_text('{"audit"')
    assert len(scores(audit, data, out)) == len(NEW)
    assert not list(out.glob(".*.partial"))


def test_results_inside_the_folder_that_is_read_are_refused_at_once(audit, data, tmp_path):
    for out in (tmp_path, tmp_path / "deep" / "out"):
        with pytest.raises(InputError, match=r"is inside .*: give a folder elsewhere"):
            scores(audit, tmp_path, out)
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("damage", [lambda whole: b"", lambda whole: whole[:-9]])
def test_a_part_that_was_cut_off_is_done_again(audit, data, tmp_path, damage):
    out = tmp_path / "out"
    scores(audit, data, out, part_rows=20)
    part = out / "part-00001.parquet"
    whole = part.read_bytes()
    part.write_bytes(damage(whole))
    assert score_files(audit, [data], out, part_rows=20).scored_now == 1
    assert part.read_bytes() == whole


def test_what_a_model_cannot_score_is_said_with_file_and_rows(audit, tmp_path):
    NEW.assign(load=[*["low"] * 30, *["high"] * 30]).to_parquet(tmp_path / "new.parquet")
    with pytest.raises(InputError, match=r"^rows 0 to 24 of .*new.parquet cannot be scored: "):
        scores(audit, tmp_path / "new.parquet", tmp_path / "out", part_rows=25)


def test_two_columns_of_one_name_are_refused(audit, tmp_path):
    table = pa.Table.from_pandas(NEW)
    pq.write_table(table.append_column("load", table["load"]), tmp_path / "new.parquet")
    with pytest.raises(InputError, match=r"new.parquet has two columns named 'load'"):
        scores(audit, tmp_path / "new.parquet", tmp_path / "out")


@pytest.mark.parametrize("content", ["[]", "null", "{", '{"files": null}', '{"files": [3]}'])
def test_a_damaged_plan_is_named(audit, data, tmp_path, content):
    out = tmp_path / "out"
    out.mkdir()
    (out / "_plan.json").write_text(content)
    with pytest.raises(InputError, match=r"_plan.json is damaged: give another folder"):
        scores(audit, data, out)
    assert (out / "_plan.json").read_text() == content


def test_a_folder_may_hold_folders_named_like_files(audit, data, tmp_path):
    spark = tmp_path / "in" / "x.parquet"
    spark.mkdir(parents=True)
    data.rename(spark / "part-00000.snappy.parquet")
    (spark / "_SUCCESS").touch()
    assert len(scores(audit, tmp_path / "in", tmp_path / "out")) == len(NEW)


def test_ids_of_one_kind_get_one_type_in_all_parts(audit, tmp_path):
    files = []
    for kind in ("int32", "int64"):
        files.append(tmp_path / f"{kind}.parquet")
        NEW.assign(key=np.arange(60, dtype=kind)).to_parquet(files[-1])
    scores(audit, files, tmp_path / "out", identity="key")
    types = {pq.read_schema(p).field("key").type for p in (tmp_path / "out").glob("*.parquet")}
    assert types == {pa.int64()}


def test_ids_of_two_kinds_are_refused(audit, data, tmp_path):
    NEW.assign(key=np.arange(60)).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"'key' is string in .*new.parquet and int64 in .*b.par"):
        scores(audit, [data, tmp_path / "b.parquet"], tmp_path / "out", identity="key")


def test_true_and_false_with_gaps_reach_the_model_as_in_the_fit(tmp_path):
    flags = np.where(np.arange(200) % 5 == 0, None, np.arange(200) % 2 == 0)
    X = TRAIN.X[["signal_a"]].fillna(0).assign(flag=pd.array(flags, dtype="boolean"))
    model = FalconDiscover(HistGradientBoostingClassifier(max_iter=5), cv=2, random_state=0)
    model.fit(X, TRAIN.y).save(tmp_path / "audit.falcon")
    X.to_parquet(tmp_path / "new.parquet")
    found = scores(tmp_path / "audit.falcon", tmp_path / "new.parquet", tmp_path / "out")
    assert np.array_equal(found["p"], model.predict_proba(X)[:, 1])


def test_a_lock_that_is_a_link_does_not_empty_its_target(audit, data, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "precious").write_text("kept")
    (out / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a symbolic link"):
        scores(audit, data, out)
    assert (tmp_path / "precious").read_text() == "kept"


def test_an_output_folder_that_is_a_file_is_named(audit, data, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(InputError, match=r"out cannot be created: File exists\."):
        score_files(audit, [data], tmp_path / "out")


def test_the_plan_names_files_as_they_were_given(audit, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = scores(audit, data.relative_to(tmp_path), tmp_path / "out")
    assert set(found["file"]) == {"new.parquet"}
    plan = json.loads((tmp_path / "out" / "_plan.json").read_text())
    assert set(plan["files"][0]) == {"file", "rows", "bytes", "modified"}


def test_a_part_damaged_on_disk_is_scored_again(audit, data, tmp_path):
    scores(audit, data, tmp_path / "out")
    part = tmp_path / "out" / "part-00000.parquet"
    whole = part.read_bytes()
    column = pq.read_metadata(part).row_group(0).column(3)
    damaged = bytearray(whole)
    begin = column.dictionary_page_offset or column.data_page_offset
    damaged[begin + column.total_compressed_size - 5] ^= 1
    part.write_bytes(damaged)
    assert score_files(audit, [data], tmp_path / "out").scored_now == 1
    assert part.read_bytes() == whole


def test_a_run_is_done_only_when_its_queue_is(audit, data, tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(run, "write_queue", failing)
        with pytest.raises(OSError, match="No space"):
            scores(audit, data, tmp_path / "out", queue=3)
    assert not (tmp_path / "out" / "_DONE.json").exists()
    scores(audit, data, tmp_path / "out", queue=3)
    assert (tmp_path / "out" / "_DONE.json").exists()


def left_half_done(folder, names):
    """Write what a process leaves that died before its files got their names."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = {f".{name}-0.partial": name for name in names}
    for part in listed:
        (folder / part).write_text("new")
    (folder / ".0.commit").write_text(json.dumps(listed))


def test_what_a_dead_run_left_is_put_in_place_and_what_it_half_wrote_goes(tmp_path):
    plan = {"files": []}
    with run.claimed(tmp_path, plan):
        pass
    for folder in (tmp_path, tmp_path / "_queue"):
        left_half_done(folder, ["a", "b"])
        (folder / ".c-1.partial").write_text("half")
    with run.claimed(tmp_path, plan):
        for folder in (tmp_path, tmp_path / "_queue"):
            assert (folder / "a").read_text() == (folder / "b").read_text() == "new"
            assert not list(folder.glob(".*.partial"))


def test_feedback_reads_a_queue_whose_run_died_while_it_was_put_in_place(tmp_path):
    left_half_done(tmp_path / "out" / "_queue", ["queue.parquet", "summary.json"])
    said = CliRunner().invoke(app, ["feedback", str(tmp_path / "out"), "marks.csv"])
    assert (tmp_path / "out" / "_queue" / "queue.parquet").read_text() == "new"
    assert said.exit_code == 1
    assert "queue.parquet cannot be read" in said.stderr
