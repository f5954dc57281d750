"""The review queue of scored files: the rows that a review list of all rows would begin with."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets
from falcon_discover.cli import app
from falcon_discover.report.rows import LIST_COLUMNS
from falcon_discover.scoring.queue import FOLDER
from falcon_discover.scoring.run import score_files

NUMBERS = ["signal_a", "signal_b", "load", "height"]
TRAIN = datasets.make_planted(300, random_state=0)
NEW = datasets.make_planted(400, random_state=1).X[NUMBERS].fillna(0).reset_index(drop=True)


def fitted(**settings):
    falcon = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau=0.8, **settings)
    return falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y)


@pytest.fixture(scope="module")
def falcon():
    return fitted()


@pytest.fixture(scope="module")
def place(falcon, tmp_path_factory):
    """A saved audit, and new rows in one file and in two."""
    folder = tmp_path_factory.mktemp("queue")
    falcon.save(folder / "audit.falcon")
    table = NEW.assign(key=[f"00{i}" for i in range(len(NEW))])
    table.to_parquet(folder / "new.parquet")
    table[:250].to_parquet(folder / "a.parquet")
    table[250:].to_parquet(folder / "b.parquet")
    return folder


def queued(folder):
    return pd.read_parquet(folder / FOLDER / "queue.parquet")


def eligible_first(falcon, rows):
    """The eligible rows of a review list of all rows: the oracle that the queue is held to."""
    found = falcon.examine(rows)
    listed = found.review(len(rows))
    return listed[listed["confidence"] >= falcon.tau]


def test_the_queue_is_the_head_of_the_review_list_of_all_rows(falcon, place, tmp_path):
    done = score_files(
        place / "audit.falcon", [place / "new.parquet"], tmp_path / "out", part_rows=70, queue=25
    )
    wanted, found = eligible_first(falcon, NEW).head(25), queued(tmp_path / "out")
    assert found["row"].tolist() == wanted["row"].tolist()
    assert found["reason"].tolist() == wanted["reason"].tolist()
    assert found["predicted"].tolist() == wanted["predicted"].tolist()
    assert (done.queued, done.rows) == (25, 400)
    assert done.eligible == len(eligible_first(falcon, NEW))
    assert done.expected == pytest.approx(falcon.examine(NEW).risk().sum())
    # Readers of the scores do not stumble over it.
    assert len(pd.read_parquet(tmp_path / "out")) == 400


def test_a_share_is_one_of_all_rows_and_files_do_not_matter(falcon, place, tmp_path):
    files = [place / "a.parquet", place / "b.parquet"]
    done = score_files(place / "audit.falcon", files, tmp_path / "out", part_rows=90, queue=0.1)
    assert done.queued == 40
    found = queued(tmp_path / "out")
    assert found["row"].tolist() == eligible_first(falcon, NEW)["row"].head(40).tolist()
    place_of = [f"{files[row >= 250]}:{row - 250 * (row >= 250)}" for row in found["row"]]
    assert found["file_and_row"].tolist() == place_of


def test_the_queue_ends_where_confident_rows_end(falcon, place, tmp_path):
    done = score_files(place / "audit.falcon", [place / "new.parquet"], tmp_path / "out", queue=400)
    assert done.queued == done.eligible < 400
    assert queued(tmp_path / "out")["confidence"].min() >= falcon.tau


@pytest.mark.parametrize("size", [3, 40, 77])
def test_rows_of_equal_suspicion_are_cut_by_the_hash_of_their_content(tmp_path, size):
    """Few different scores, and a ranker that knows nothing else: the hash has to decide."""
    falcon = FalconDiscover("precomputed", ranker="gated_confidence", random_state=0, tau=0.8)
    falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y, proba=TRAIN.proba).save(tmp_path / "a.falcon")
    # Every row has a copy far away in the file, which is equal in its hash too.
    rows = pd.concat([NEW, NEW], ignore_index=True)
    p = pd.Series(np.tile([0.85, 0.95, 0.6, 0.05], len(rows) // 4))
    rows.assign(score=p).to_parquet(tmp_path / "rows.parquet")
    score_files(
        tmp_path / "a.falcon", [tmp_path / "rows.parquet"], tmp_path / "out",
        part_rows=130, proba=["score"], queue=size,
    )  # fmt: skip
    listed = falcon.examine(rows, proba=p).review(len(rows))
    wanted = listed[listed["confidence"] >= 0.8]["row"].head(size)
    assert queued(tmp_path / "out")["row"].tolist() == wanted.tolist()
    # By their place in the file, others would be listed.
    assert wanted.tolist() != np.flatnonzero(p == 0.85)[:size].tolist()


def test_feedback_takes_marks_of_the_queue(place, tmp_path):
    words = ["score", place / "audit.falcon", place / "new.parquet", "--id", "key", "--jobs", 1]
    words += ["--out", tmp_path / "out", "--queue", 20, "--quiet"]
    said = CliRunner().invoke(app, list(map(str, words)))
    assert said.exit_code == 0
    assert str(tmp_path / "out" / FOLDER / "queue.html") in said.stdout
    text = pd.read_csv(tmp_path / "out" / FOLDER / "queue.csv", dtype={"key": str})
    assert set(text.columns) - set(LIST_COLUMNS) == {"key"}
    assert (text["key"] == "00" + text["row"].astype(str)).all()
    marks = text[["row", "key"]].assign(mark=["wrong"] * 5 + ["right"] * 15)
    marks.to_csv(tmp_path / "marks.csv", index=False)
    for folder in (tmp_path / "out", tmp_path / "out" / FOLDER):
        done = CliRunner().invoke(
            app, ["feedback", str(folder), str(tmp_path / "marks.csv"), "--json"]
        )
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["bands"][0]["wrong"] == 5


def test_no_confident_row_gives_no_queue_and_says_so(tmp_path):
    falcon = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau=1.0)
    falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y).save(tmp_path / "audit.falcon")
    NEW.to_parquet(tmp_path / "new.parquet")
    done = score_files(
        tmp_path / "audit.falcon", [tmp_path / "new.parquet"], tmp_path / "out", queue=5
    )
    assert (done.eligible, done.queued, done.queue) == (0, 0, None)


def test_a_threshold_for_each_class_decides_what_is_eligible(tmp_path):
    falcon = FalconDiscover(LogisticRegression(), cv=2, random_state=0, tau={0: 0.95, 1: 0.7})
    falcon.fit(TRAIN.X[NUMBERS].fillna(0), TRAIN.y).save(tmp_path / "audit.falcon")
    NEW.to_parquet(tmp_path / "new.parquet")
    done = score_files(
        tmp_path / "audit.falcon", [tmp_path / "new.parquet"], tmp_path / "out", queue=30
    )
    state = falcon.examine(NEW).state
    assert done.eligible == int(state.eligible(falcon.audit_.tau).sum())
    found = queued(tmp_path / "out")
    assert (found["confidence"] >= found["predicted"].map({0: 0.95, 1: 0.7})).all()


def test_an_impossible_queue_is_refused_before_anything_is_scored(place, tmp_path):
    with pytest.raises(InputError, match=r"-3"):
        score_files(place / "audit.falcon", [place / "new.parquet"], tmp_path / "out", queue=-3)
    assert not (tmp_path / "out").exists()
