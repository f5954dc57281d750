"""Files are monitored as rows in memory are, however they are cut, and nothing is lost."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets
from falcon_discover.cli import app
from falcon_discover.scoring import batches
from falcon_discover.scoring.batches import (
    MISSING,
    batch_names,
    in_order,
    packed,
    unpacked,
)
from falcon_discover.scoring.watch import watch_files

NUMBERS = ["signal_a", "signal_b", "load", "height"]
WEEKS = 3


def rows(n, seed):
    return datasets.make_planted(n, random_state=seed).X[NUMBERS].fillna(0)


@pytest.fixture(scope="module")
def falcon():
    planted = datasets.make_planted(900, random_state=0)
    X = planted.X[NUMBERS].fillna(0)
    model = LogisticRegression().fit(X[:400], planted.y[:400])
    audit = FalconDiscover(FrozenEstimator(model), tau=0.8, random_state=0)
    return audit.fit(X[400:], planted.y[400:])


@pytest.fixture(scope="module")
def audit(falcon, tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.falcon"
    falcon.save(path)
    return path


@pytest.fixture(scope="module")
def weeks():
    parts = [rows(150, 10 + w).assign(week=w + 9) for w in range(WEEKS)]
    parts[1]["signal_a"] *= 30  # a change of units
    return pd.concat(parts).sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.fixture(scope="module")
def data(weeks, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.parquet"
    weeks.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def found(audit, data):
    return watch_files(audit, [data], by="week", part_rows=60)


def test_batches_in_files_are_those_in_memory(falcon, weeks, found):
    assert list(found.reports) == ["9", "10", "11"]
    for name, report in found.reports.items():
        batch = weeks.loc[weeks["week"] == int(name), NUMBERS]
        alone = falcon.monitor(batch)
        assert report.rows == len(batch)
        assert report.eligible == alone.eligible
        # Sums are exact, but a row's risk may differ in the last bit by the part it was read in.
        assert report.errors == pytest.approx(alone.errors, rel=1e-9)
        assert (report.errors_low, report.errors_high) == (alone.errors_low, alone.errors_high)


def test_the_batch_in_other_units_is_unlike_the_audited_rows(found):
    alarms = [report.alarm for report in found.reports.values()]
    assert alarms[1] == "unlike_audited"
    assert found.reports["10"].drift["name"].iloc[0] in ("signal_a", "nearest_distance") or (
        "signal_a" in set(found.reports["10"].drift.head(5)["name"])
    )


def test_the_size_of_parts_does_not_matter(audit, data, found):
    whole = watch_files(audit, [data], by="week")
    for name, report in whole.reports.items():
        assert report.errors == pytest.approx(found.reports[name].errors, rel=1e-9)
        assert report.alarm == found.reports[name].alarm


def test_without_a_column_each_file_is_a_batch(audit, weeks, tmp_path):
    for name in ("a.csv", "b.csv"):
        weeks[NUMBERS].head(80).to_csv(tmp_path / name, index=False)
    found = watch_files(audit, [tmp_path / "b.csv", tmp_path / "a.csv"])
    assert [name.rsplit("/", 1)[-1] for name in found.reports] == ["b.csv", "a.csv"]
    first, second = found.reports.values()
    assert first.errors == second.errors


def test_a_run_is_resumed_with_the_same_results(audit, data, tmp_path, monkeypatch):
    whole = tmp_path / "whole"
    watch_files(audit, [data], whole, by="week", part_rows=100)
    half = tmp_path / "half"
    counted = []

    def dying(saved, parts, task):
        from falcon_discover.scoring.run import local

        for done in local()(saved, parts, task):
            counted.append(done.number)
            yield done
            if len(counted) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_files(audit, [data], half, by="week", part_rows=100, engine=dying)
    assert not (half / "_DONE.json").exists()
    watch_files(audit, [data], half, by="week", part_rows=100, engine=dying)
    assert counted == [0, 1, 2, 3, 4]
    for name in ("batches.jsonl", "batches.csv", "monitor.html", "_DONE.json"):
        assert (half / name).read_bytes() == (whole / name).read_bytes()


def test_a_damaged_part_is_counted_again(audit, data, tmp_path):
    watch_files(audit, [data], tmp_path / "out", by="week")
    before = (tmp_path / "out" / "batches.jsonl").read_bytes()
    part = tmp_path / "out" / "_parts" / "part-00000.npz"
    part.write_bytes(part.read_bytes()[:-40])
    watch_files(audit, [data], tmp_path / "out", by="week")
    assert (tmp_path / "out" / "batches.jsonl").read_bytes() == before


def test_statistics_survive_packing(falcon):
    from falcon_discover.monitoring.statistics import BatchStatistics

    kept = BatchStatistics.of(falcon.audit_, falcon.new_rows(rows(50, 5)))
    back = unpacked(packed({"x": kept}), "part")["x"]
    np.testing.assert_array_equal(back.sums, kept.sums)
    pd.testing.assert_frame_equal(back.sample.frame, kept.sample.frame)
    assert len(back.counts) == len(kept.counts)


def test_bytes_that_were_not_written_here_are_refused():
    with pytest.raises(InputError, match="part 7"):
        unpacked(b"nothing", "part 7")


def test_periods_begin_on_calendar_days():
    days = pd.Series(pd.to_datetime(["2026-01-31 23:59", "2026-02-01 00:00", None]))
    assert batch_names(days, "at").tolist() == ["2026-01-31", "2026-02-01", MISSING]
    assert batch_names(days, "at", "month").tolist() == ["2026-01", "2026-02", MISSING]
    # 2026-02-01 is a Sunday: its week began on Monday, 26 January.
    assert batch_names(days, "at", "week").tolist() == ["2026-01-26", "2026-01-26", MISSING]


def test_numbers_are_no_dates():
    with pytest.raises(InputError, match="'week'"):
        batch_names(pd.Series([1, 2]), "week", "month")


def test_batches_are_in_the_order_people_count_in():
    assert in_order(["w10", "w9", MISSING]) == ["w9", "w10", MISSING]


def test_too_many_batches_are_refused(audit, weeks, tmp_path):
    table = pd.concat([weeks[NUMBERS]] * 3, ignore_index=True)
    table.assign(key=np.arange(len(table))).to_parquet(tmp_path / "many.parquet")
    with pytest.raises(InputError, match="'key'"):
        watch_files(audit, [tmp_path / "many.parquet"], by="key")


def called(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_writes_a_page_and_lines_of_json(audit, data, tmp_path):
    out = tmp_path / "out"
    done = called("monitor", audit, data, "--by", "week", "--out", out)
    assert done.exit_code == 0, done.output
    page = (out / "monitor.html").read_text()
    assert 'data-alarm="' in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    lines = [json.loads(line) for line in (out / "batches.jsonl").read_text().splitlines()]
    assert [line["batch"] for line in lines] == ["9", "10", "11"]
    assert {"errors", "errors_low", "errors_high", "rate", "alarm", "drift"} <= set(lines[0])
    table = pd.read_csv(out / "batches.csv")
    np.testing.assert_allclose(table["errors"], [line["errors"] for line in lines])


def test_a_scheduler_can_tell_an_alarm_by_the_exit_code(audit, data, tmp_path):
    command = ("monitor", audit, data, "--by", "week", "--json")
    assert called(*command).exit_code == 0
    assert called(*command, "--fail-on", "unlike_audited").exit_code == 3
    rows(150, 10).to_parquet(tmp_path / "usual.parquet")
    usual = called("monitor", audit, tmp_path / "usual.parquet", "--fail-on", "unlike_audited")
    assert usual.exit_code == 0, usual.output


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--fail-on", "never"), "never"),
        (("--every", "week"), "--by"),
        (("--by", "week", "--every", "hour"), "hour"),
        (("--by", "wek"), "week"),
    ],
)
def test_slips_are_answered_before_any_work(audit, data, words, named):
    done = called("monitor", audit, data, *words)
    assert done.exit_code in (1, 2)
    assert named in done.output


@pytest.mark.cluster
def test_a_cluster_finds_the_same(audit, data, found):
    pytest.importorskip("distributed")
    from falcon_discover.scoring.cluster import dask_engine

    there = watch_files(audit, [data], by="week", part_rows=60, engine=dask_engine(workers=1))
    assert list(there.lines()) == list(found.lines())


def test_more_files_than_batches_are_refused_before_they_are_counted(
    audit, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(batches, "MOST", 2)
    files = [tmp_path / f"{i}.parquet" for i in range(3)]
    for file in files:
        shutil.copy(data, file)

    def never(*_):
        raise AssertionError("parts were counted")

    with pytest.raises(InputError, match=r"more than 2 files.*--by"):
        watch_files(audit, files, tmp_path / "out", engine=never)
    assert not (tmp_path / "out").exists()
