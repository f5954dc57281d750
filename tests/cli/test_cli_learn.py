"""`falcon-discover learn`: marks and rows in, a new audit out."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, datasets, load
from falcon_discover.cli import app
from support.many_classes import many_classes

NUMBERS = ["signal_a", "signal_b", "load", "height"]
ROWS = datasets.make_planted(700, random_state=0)
LATER = ROWS.X[NUMBERS][400:].reset_index(drop=True)
TAU = 0.7


def run(*words: object, code: int = 0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output + result.stderr
    if code:
        assert result.stderr.startswith("error: ")
    return result


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a saved audit, rows that came later, and marks of the most suspicious ones."""
    folder = tmp_path_factory.mktemp("learn")
    falcon = FalconDiscover("logistic_regression", tau=TAU, cv=2, random_state=0)
    falcon.fit(ROWS.X[NUMBERS][:400], np.where(ROWS.y[:400], "yes", "no"))
    falcon.save(folder / "audit.falcon")
    LATER.assign(key=[f"{i:04d}" for i in range(300)]).to_csv(folder / "rows.csv", index=False)
    listed = falcon.review(LATER, budget=50)
    right = listed["predicted"].to_numpy() == np.where(ROWS.y[400:], "yes", "no")[listed["row"]]
    marks = listed[["row", "predicted", "confidence", "suspicion"]].reset_index(drop=True)
    marks.insert(1, "key", [f"{i:04d}" for i in marks["row"]])
    marks.insert(2, "mark", np.where(right, "right", "wrong"))
    marks.to_csv(folder / "marks.csv", index=False)
    return folder, falcon, marks


def learned(place, tmp_path, marks=None, *more: object, code: int = 0):
    folder = place[0]
    path = folder / "marks.csv"
    if marks is not None:
        path = tmp_path / "marks.csv"
        marks.to_csv(path, index=False)
    new = tmp_path / "new.falcon"
    words = ["learn", folder / "audit.falcon", path, folder / "rows.csv", "--save", new, *more]
    return run(*words, code=code), new


def test_a_new_audit_is_saved_and_the_old_one_stays(place, tmp_path):
    folder, falcon, marks = place
    before = (folder / "audit.falcon").read_bytes()
    result, new = learned(place, tmp_path)
    assert (folder / "audit.falcon").read_bytes() == before
    wrong = marks["mark"].eq("wrong")
    assert f"Learned from 50 reviewed confident predictions. {wrong.sum()} were" in result.stdout
    assert f"Next: falcon-discover score {new} NEXT_ROWS --out scores" in result.stdout
    expected = falcon.learn(LATER.iloc[marks["row"]], wrong=wrong.to_numpy())
    np.testing.assert_allclose(load(new).score_samples(LATER), expected.score_samples(LATER))
    again = run("inspect", new).stdout
    assert "50 reviewed predictions" in again
    scores = tmp_path / "scores"
    run("score", new, folder / "rows.csv", "--out", scores)
    scored = pd.concat([pd.read_parquet(part) for part in sorted(scores.glob("*.parquet"))])
    np.testing.assert_allclose(scored["suspicion"], expected.score_samples(LATER))


def test_json(place, tmp_path):
    marks = place[2].assign(mark=["unsure", *place[2]["mark"][1:]])
    told = json.loads(learned(place, tmp_path, marks, "--json")[0].stdout)
    assert (told["new_rows"], told["unsure"]) == (49, 1)


def test_rows_may_be_found_by_their_id(place, tmp_path):
    _, falcon, marks = place
    shuffled = marks.sample(frac=1.0, random_state=0).drop(columns="row")
    by_id = load(learned(place, tmp_path, shuffled, "--id", "key")[1])
    expected = falcon.learn(LATER.iloc[marks["row"]], wrong=marks["mark"].eq("wrong").to_numpy())
    np.testing.assert_allclose(by_id.score_samples(LATER), expected.score_samples(LATER))


def test_a_wrong_label_means_that_the_model_was_right(place, tmp_path):
    marks = place[2].assign(mark=["right"] * 10 + ["label wrong"] * 15 + ["Wrong "] * 25)
    result, _ = learned(place, tmp_path, marks, "--json")
    assert json.loads(result.stdout)["new_wrong"] == 25


def test_rows_without_a_mark_are_left_out(place, tmp_path):
    marks = place[2].assign(mark=[*place[2]["mark"][:10], *[None] * 40])
    assert json.loads(learned(place, tmp_path, marks, "--json")[0].stdout)["new_rows"] == 10


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: m.drop(columns="mark"), "lacks the column 'mark'"),
        (lambda m: m.drop(columns="row"), "lacks the column 'row'"),
        (lambda m: m.assign(mark="perhaps"), "contains the mark 'perhaps'"),
        (lambda m: m.assign(mark="unsure"), "marks no row right or wrong"),
        (lambda m: m.assign(row=5), "marks row 5 more than once"),
        (lambda m: m.assign(row=m["row"] + 300), "has 300 rows: are the marks from another file?"),
        (lambda m: m.assign(row=m["row"] + 0.5), "use row numbers"),
        (lambda m: m.assign(row=m["row"].to_numpy()[::-1]), "are the marks from another audit"),
        (lambda m: m.assign(confidence=m["confidence"] - 0.1), "are the marks from another audit"),
        (lambda m: m.assign(predicted="maybe"), "is maybe in the marks but"),
    ],
)
def test_strange_marks_are_refused(place, tmp_path, change, sentence):
    result, new = learned(place, tmp_path, change(place[2]), code=1)
    assert sentence in result.stderr
    assert not new.exists()


def test_other_mistakes_are_answered(place, tmp_path):
    folder, _, marks = place
    strange = marks.assign(key=[f"{i:04d}" for i in range(900, 950)])
    assert "has no such row" in learned(place, tmp_path, strange, "--id", "key", code=1)[0].stderr
    twice = pd.read_csv(folder / "rows.csv", dtype={"key": str}).assign(key="0001")
    twice.to_csv(tmp_path / "twice.csv", index=False)
    audit, path = folder / "audit.falcon", folder / "marks.csv"
    one = tmp_path / "one.csv"
    marks[:1].assign(key="0001").to_csv(one, index=False)
    words = ["learn", audit, one, tmp_path / "twice.csv", "--id", "key", "--save"]
    assert "more than one row" in run(*words, tmp_path / "n.falcon", code=1).stderr
    same = run("learn", audit, path, folder / "rows.csv", "--save", audit, code=1)
    assert "give the new one another name" in same.stderr
    assert "--proba" in learned(place, tmp_path, None, "--proba", "p", code=1)[0].stderr
    LATER.drop(columns="load").to_csv(tmp_path / "few.csv", index=False)
    words = ["learn", audit, path, tmp_path / "few.csv", "--save", tmp_path / "n.falcon"]
    assert "lacks the column 'load'" in run(*words, code=1).stderr
    nowhere = tmp_path / "nowhere" / "n.falcon"
    words = ["learn", audit, path, folder / "rows.csv", "--save", nowhere]
    assert "there is no folder" in run(*words, code=1).stderr


@pytest.mark.parametrize("name", ["marks.csv", "rows.csv", "notes.txt", "model.zip"])
def test_no_other_file_is_replaced(place, tmp_path, name):
    folder, _, _ = place
    (folder / "notes.txt").write_text("Call the branch in Leeds.")
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        archive.writestr("model.json", "{}")
    before = (folder / name).read_bytes()
    words = ["learn", folder / "audit.falcon", folder / "marks.csv", folder / "rows.csv", "--save"]
    told = run(*words, folder / name, code=1).stderr
    assert "is not a saved audit: choose another name" in told
    assert (folder / name).read_bytes() == before
    # An earlier result is, and so is the empty file that mktemp makes.
    (tmp_path / "new.falcon").touch()
    for _ in range(2):
        run(*words, tmp_path / "new.falcon")


def test_marks_of_the_rows_of_the_fit_are_refused(place, tmp_path):
    ROWS.X[NUMBERS][:400].to_csv(tmp_path / "fit.csv", index=False)
    marks = tmp_path / "marks.csv"
    pd.DataFrame({"row": range(40), "mark": "right"}).to_csv(marks, index=False)
    new = tmp_path / "n.falcon"
    words = ["learn", place[0] / "audit.falcon", marks, tmp_path / "fit.csv", "--save", new]
    assert "was fitted on these rows" in run(*words, code=1).stderr


def test_predictions_alone_with_more_classes(tmp_path):
    table, y = many_classes(160, 0, 3)
    table = table[["steps", "size"]] + 0.01 * np.arange(160)[:, None]
    rng = np.random.default_rng(0)
    proba = np.full((160, 3), 0.05)
    proba[np.arange(160), np.where(rng.uniform(size=160) < 0.8, y, (y + 1) % 3)] = 0.9
    falcon = FalconDiscover("precomputed", tau=0.8, cv=2, random_state=0)
    falcon.fit(table[:80], y[:80], proba=proba[:80])
    falcon.save(tmp_path / "audit.falcon")
    later = table[80:].assign(**{f"p_{c}": proba[80:, c] for c in range(3)})
    later.to_csv(tmp_path / "rows.csv", index=False)
    wrong = proba[80:].argmax(axis=1) != y[80:]
    marks = pd.DataFrame({"row": range(80), "mark": np.where(wrong, "wrong", "right")})
    marks.to_csv(tmp_path / "marks.csv", index=False)
    words = ["learn", *(tmp_path / name for name in ("audit.falcon", "marks.csv", "rows.csv"))]
    new = tmp_path / "new.falcon"
    run(*words, "--proba", "p_2,p_1,p_0", "--save", new)
    assert load(new).learned_.new_wrong == wrong.sum()
    assert "name the column of the scores with --proba" in run(*words, "--save", new, code=1).stderr


@pytest.mark.parametrize(("labels", "wrong", "suggested"), [(0, 10, 1), (1, 10, 0), (0, 2, 0)])
def test_feedback_suggests_to_learn(tmp_path, labels, wrong, suggested):
    review = pd.DataFrame(
        {"row": range(50), "suspicion": 0.3, "confidence": 0.95, "predicted": "yes"}
    )
    review = review.assign(actual="yes") if labels else review
    review.to_parquet(tmp_path / "review.parquet")
    settings = {"tau": 0.9, "ranker": "auto", "severity": "count"}
    (tmp_path / "summary.json").write_text(json.dumps({"settings": settings}))
    marks = tmp_path / "my marks.csv"
    said = ["wrong"] * wrong + ["right"] * (50 - wrong)
    pd.DataFrame({"row": range(50), "mark": said}).to_csv(marks, index=False)
    shown = run("feedback", tmp_path, marks).stdout
    assert (f"falcon-discover learn AUDIT.falcon '{marks}' ROWS.csv" in shown) == bool(suggested)
    told = json.loads(run("feedback", tmp_path, marks, "--json").stdout)
    assert told["enough_to_learn"] == bool(suggested)
