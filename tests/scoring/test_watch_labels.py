"""Files whose labels are known by now: what was found beside what was expected."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets
from falcon_discover.cli import app
from falcon_discover.scoring.watch import watch_files

NUMBERS = ["signal_a", "signal_b", "load", "height"]
MONTHS = 4


def called(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def month(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    planted = datasets.make_planted(200, random_state=seed)
    X = planted.X[NUMBERS].fillna(0).assign(score=np.round(planted.proba, 3))
    return X, np.array(["no", "yes"])[planted.y]


@pytest.fixture(scope="module")
def falcon():
    X, y = month(0)
    more, labels = month(1)
    falcon = FalconDiscover("precomputed", tau=0.8, ranker="auto", random_state=0)
    rows = pd.concat([X, more], ignore_index=True)
    return falcon.fit(rows[NUMBERS], np.append(y, labels), proba=rows["score"])


@pytest.fixture(scope="module")
def audit(falcon, tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.falcon"
    falcon.save(path)
    return path


@pytest.fixture(scope="module")
def year():
    """Four months: labelled, labelled in part, labelled otherwise than before, not labelled."""
    parts = []
    for number in range(MONTHS):
        X, y = month(10 + number)
        labels = pd.Series(y, dtype=object)
        if number == 1:
            labels[50:] = None
        if number == 2:
            sure = np.maximum(X["score"], 1 - X["score"]) >= 0.8
            # The rule has changed: half of the confident predictions are wrong.
            decided = np.where(X["score"] >= 0.5, "yes", "no")
            other = np.where(X["score"] >= 0.5, "no", "yes")
            labels = pd.Series(np.where(np.arange(len(X)) % 2, decided, other), dtype=object)
            labels[~sure] = None
        if number == 3:
            labels[:] = None
        parts.append(X.assign(month=number + 1, outcome=labels))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def data(year, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "year.parquet"
    year.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def found(audit, data):
    return watch_files(audit, [data], by="month", proba=["score"], target="outcome", part_rows=130)


def test_labels_in_files_say_what_labels_in_memory_say(falcon, year, found):
    watch = None
    for name in ("1", "2", "3"):
        rows = year[year["month"] == int(name)]
        report = falcon.monitor(rows[NUMBERS], proba=rows["score"])
        alone = report.compare(rows["outcome"], watch=watch)
        watch = alone.watch
        there = found.comparisons[name]
        assert (there.labelled, there.eligible) == (alone.labelled, alone.eligible)
        assert there.observed == alone.observed
        assert there.expected == pytest.approx(alone.expected, rel=1e-6)
        assert (there.low, there.high) == (alone.low, alone.high)
        assert there.audit_again == alone.audit_again


def test_what_was_found_is_what_the_table_holds(year, found):
    rows = year[(year["month"] == 2) & year["outcome"].notna()]
    sure = np.maximum(rows["score"], 1 - rows["score"]) >= 0.8
    decided = np.where(rows["score"] >= 0.5, "yes", "no")
    assert found.comparisons["2"].labelled == 50
    assert found.comparisons["2"].eligible == sure.sum()
    assert found.comparisons["2"].observed == (sure & (decided != rows["outcome"])).sum()


def test_a_batch_without_labels_is_not_compared(found):
    assert list(found.comparisons) == ["1", "2", "3"]
    table = found.frame().set_index("batch")
    assert table["labelled"].tolist() == [200, 50, found.comparisons["3"].labelled, 0]
    assert pd.isna(table.loc["4", "labelled_errors"])


def test_labels_change_no_estimate(audit, data, year, found, tmp_path):
    bare = tmp_path / "bare.parquet"
    year.drop(columns="outcome").to_parquet(bare)
    alone = watch_files(audit, [bare], by="month", proba=["score"], part_rows=130)
    assert alone.comparisons == {}
    for name, report in alone.reports.items():
        assert report.to_dict() == found.reports[name].to_dict()


def test_the_running_check_tells_a_changed_rule(found):
    again = [comparison.audit_again for comparison in found.comparisons.values()]
    assert again == [False, False, True]
    assert found.audit_again


def test_the_page_and_the_lines_say_it(audit, data, tmp_path):
    out = tmp_path / "out"
    command = ("monitor", audit, data, "--by", "month", "--proba", "score", "--target", "outcome")
    done = called(*command, "--out", out)
    assert done.exit_code == 0, done.output
    assert "The risks no longer hold." in done.output
    assert "Judged without labels, all 4 batches are as audited." in " ".join(done.output.split())
    assert "No action needed" not in done.output
    page = (out / "monitor.html").read_text()
    assert 'id="labels"' in page
    assert "audit again" in page
    lines = [json.loads(line) for line in (out / "batches.jsonl").read_text().splitlines()]
    assert [line.get("comparison", {}).get("audit_again") for line in lines] == [
        False, False, True, None,
    ]  # fmt: skip
    # The same run goes on; another column of labels is another run.
    assert called(*command, "--out", out).exit_code == 0
    without = called(*command[:-2], "--out", out)
    assert without.exit_code == 1
    assert "target" in without.output


def test_labels_that_do_not_hold_are_the_worst_alarm(audit, data, year, tmp_path):
    command = ("monitor", audit, "--by", "month", "--proba", "score", "--target", "outcome")
    for level in ("audit_again", "unlike_audited"):
        assert called(*command, data, "--json", "--fail-on", level).exit_code == 3
    first = tmp_path / "first.parquet"
    year[year["month"] == 1].to_parquet(first)
    assert called(*command, first, "--json", "--fail-on", "audit_again").exit_code == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--target", "outcom"), "outcome"),
        (("--target", "month"), "another option"),
        (("--target", "score"), "another option"),
        (("--target", "load"), "uses as a feature"),
        (("--target", "height_class"), "height_class"),
        (("--fail-on", "audit_again"), "--target"),
    ],
)
def test_slips_with_labels_are_answered(audit, data, words, named):
    done = called("monitor", audit, data, "--by", "month", "--proba", "score", *words)
    assert done.exit_code == 1
    assert named in done.output


def test_labels_that_the_audit_does_not_know_are_refused(audit, year, tmp_path):
    path = tmp_path / "strange.parquet"
    year.assign(outcome="maybe").to_parquet(path)
    with pytest.raises(InputError, match="'maybe'"):
        watch_files(audit, [path], proba=["score"], target="outcome")


@pytest.mark.parametrize("name", ["gaps.parquet", "gaps.csv"])
def test_numbers_with_gaps_are_labels_too(tmp_path, name):
    planted = datasets.make_planted(300, random_state=0)
    X, score = planted.X[NUMBERS].fillna(0), np.round(planted.proba, 3)
    falcon = FalconDiscover("precomputed", tau=0.8, random_state=0).fit(X, planted.y, proba=score)
    falcon.save(tmp_path / "audit.falcon")
    later = datasets.make_planted(120, random_state=1)
    labels = pd.Series(later.y, dtype="Int64")
    labels[::3] = pd.NA
    rows, given = later.X[NUMBERS].fillna(0), np.round(later.proba, 3)
    table, path = rows.assign(score=given, outcome=labels), tmp_path / name
    table.to_csv(path, index=False) if name.endswith("csv") else table.to_parquet(path)
    found = watch_files(tmp_path / "audit.falcon", [path], proba=["score"], target="outcome")
    (comparison,) = found.comparisons.values()
    assert comparison.labelled == 80
    assert comparison.observed == falcon.monitor(rows, proba=given).compare(labels).observed
