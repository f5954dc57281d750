"""The page, the Markdown and the JSON of a report show the same numbers, whatever was audited."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from falcon_discover import FalconDiscover, InputError, datasets, discover
from falcon_discover.cli import app
from falcon_discover.data.table import Table
from falcon_discover.rankers import GatedRisk
from falcon_discover.report import About, Report, html, markdown
from falcon_discover.report.page import Grid
from falcon_discover.report.rows import MAX_ROWS, page_rows
from falcon_discover.report.sections import sections, verdict
from falcon_discover.report.text import SENTENCES
from falcon_discover.runtime.format import count, interval, share
from support.findings import (
    FORMULA,
    HOSTILE_LABEL,
    HOSTILE_NAME,
    LONG,
    RIGHT_TO_LEFT,
    changed,
    made_up,
)
from support.pages import Page, markdown_tables, plain

SCHEMA = Path(__file__).parents[2] / "docs" / "report-schema.md"
ORDER = [
    "review", "labels", "regions", "sides", "budget", "calibrated", "signals", "recalibration",
    "about", "limits", "glossary",
]  # fmt: skip


def grids(report: Report) -> dict[str, Grid]:
    """The tables of a report by their keys."""
    parts = sections(report.summary)
    found = [g for part in parts for g in (*part.grids, *(f.grid for f in part.figures))]
    assert all(grid.key for grid in found)
    assert len({grid.key for grid in found}) == len(found)
    return {grid.key: grid for grid in found}


@pytest.fixture(scope="module")
def planted():
    return datasets.make_planted(1_000, random_state=0)


@pytest.fixture(scope="module")
def report(planted) -> Report:
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    return Report.of(found, About(name="planted", max_residual_rate=0.05))


@pytest.fixture(scope="module")
def hostile() -> Report:
    return Report.of(made_up(400, hostile=True), About(name=HOSTILE_NAME, target=HOSTILE_LABEL))


def test_the_sections_come_in_order_and_the_verdict_first(report):
    page = html(report)
    places = [page.index(f'<section id="{key}"') for key in ORDER]
    assert places == sorted(places)
    assert page.index('id="verdict"') < places[0]
    text = markdown(report)
    titles = [section.title for section in sections(report.summary)]
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == titles
    assert text.index(verdict(report.summary)) < text.index(titles[0])


def test_html_and_markdown_show_the_same_tables(report):
    shown, written = Page(html(report)).tables, markdown_tables(markdown(report))
    found = grids(report)
    assert len(found) >= 9
    for grid in found.values():
        lines = [list(grid.header), *map(list, grid.rows)]
        assert shown[grid.caption] == lines
        assert written[grid.caption] == lines


def test_their_tables_are_those_of_the_json(report):
    summary = json.loads(json.dumps(report.summary, allow_nan=False))
    tables = grids(report)
    assert tables["reliability"].rows == [
        (
            f"{share(b['from'], 0)} to {share(b['to'], 0)}",
            count(b["rows"]),
            share(b["confidence"]),
            share(b["accuracy"]),
            interval(b["low"], b["high"]),
        )
        for b in summary["curves"]["reliability"]
    ]
    main = [c for c in summary["evaluation"]["captures"] if c["tau"] == 0.9]
    assert len(tables["capture"].rows) == len({c["ranker"] for c in main})
    cells = " ".join(" ".join(row) for row in tables["capture"].rows)
    for c in main:
        assert f"{count(c['captured'])} ({share(c['capture'])};" in cells
    methods = tables["recalibration"]
    errors = methods.header.index("confident errors")
    assert [row[errors] for row in methods.rows] == [
        count(m["confident_errors"]) for m in summary["calibration"]["methods"]
    ]
    told = [r for r in summary["curves"]["regions"] if r["kind"] == "all" or r["confirmed"]]
    assert [row[3] for row in tables["regions"].rows] == [count(r["events"]) for r in told]
    first = summary["guarantee"]["statement"].splitlines()[0]
    assert first.split(":")[0] in markdown(report)


def test_every_chart_has_a_text_alternative_and_its_numbers(report):
    page = Page(html(report))
    charts = [attrs for tag, attrs in page.tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(charts) >= 8
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for chart in charts:
        assert set(chart["aria-labelledby"].split()) <= set(ids)
    figures = [f for section in sections(report.summary) for f in section.figures]
    assert len(figures) == page.count("figure") >= 6
    assert all(figure.words and figure.grid.rows for figure in figures)


def test_the_page_asks_nothing_of_any_network(report):
    text = html(report)
    assert "http:" not in text
    assert "https:" not in text
    page = Page(text)
    links = [v for _, attrs in page.tags for k, v in attrs.items() if k in ("src", "href")]
    assert links
    assert all(link.startswith("#") for link in links)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert set(re.findall(r"url\((.*?)\)", text)) == {"#hatch"}


def test_hostile_texts_are_shown_as_text(hostile):
    text = html(hostile)
    page = Page(text)
    assert page.count("script") == 2
    assert page.count("img") == 0
    assert text.count("</script>") == 2
    shown = "".join(page.texts)
    assert f"Audit report: {HOSTILE_NAME}" in shown
    assert HOSTILE_LABEL in shown
    rows = json.loads(re.search(r'id="rows">(.*?)</script>', text, re.DOTALL).group(1))
    assert rows["classes"] == ["no", HOSTILE_LABEL]
    assert HOSTILE_NAME in rows["columns"]
    values = rows["names"].index("values")
    cells = {rows["texts"][row[values][4]] for row in rows["rows"]}
    assert cells == {FORMULA, RIGHT_TO_LEFT, HOSTILE_LABEL}
    assert LONG[:200] not in text
    written = markdown(hostile)
    assert re.search(r"(?<!\\)<", written) is None
    assert any(plain(line).endswith(f"{HOSTILE_LABEL} |") for line in written.splitlines())


def _sorting(rows: int) -> float:
    """Return the processor time of one sort of so many rows."""
    values = np.random.default_rng(0).uniform(size=rows)
    begun = time.process_time()
    np.argsort(values, kind="stable")
    return time.process_time() - begun


def test_a_million_rows_make_a_small_page_in_seconds(tmp_path):
    found = made_up(1_000_000)
    sorting = min(_sorting(1_000_000) for _ in range(5))
    begun = time.process_time()
    report = Report.of(found, About(contributions=False))
    (tmp_path / "report.html").write_text(html(report), encoding="utf-8")
    (tmp_path / "report.md").write_text(markdown(report), encoding="utf-8")
    # In units of one sort, since machines differ: it takes some 160.
    assert time.process_time() - begun < 400 * sorting
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    assert len(report.review) == 200_000
    assert len(report.rows["rows"]) == MAX_ROWS
    assert 'data-key="review.shown"' in (tmp_path / "report.html").read_text()


def test_wide_rows_with_long_texts_stay_within_the_size():
    texts = np.array([f"{i:06} {'a' * 900}" for i in range(600 * 90)]).reshape(600, 90)
    wide = pd.DataFrame(texts, columns=[f"column {i}" for i in range(90)])
    table = Table.from_input(wide)
    found = changed(made_up(600), table=table)
    found = replace(found, audit=replace(found.audit, table=table))
    vars(found)["regions"] = found.audit.regions
    report = Report.of(found, About(budget=1.0, contributions=False))
    page = html(report)
    assert len(page.encode()) < 3_000_000
    assert 0 < len(report.rows["rows"]) < report.summary["review"]["listed"]
    assert report.rows["columns_left_out"] == 50
    assert 'data-key="review.shown"' in page


def test_equal_cells_are_kept_once():
    rows = page_rows(made_up(400), made_up(400).review(0.5))
    assert len(rows["texts"]) == len(set(rows["texts"]))
    job = rows["names"].index("values")
    assert {rows["texts"][row[job][3]] for row in rows["rows"]} == {"clerk", "driver", "cook"}


def test_no_confidence_is_rounded_up_to_certainty():
    found = made_up(400)
    shown = page_rows(found, found.review(400))
    place = shown["names"].index("confidence")
    confidence = np.array([row[place] for row in shown["rows"]])
    known = found.state.confidence[[row[shown["names"].index("row")] for row in shown["rows"]]]
    assert ((known > 0.99995) & (known < 1.0)).any()
    assert ((confidence == 1.0) == (known == 1.0)).all()
    assert np.abs(confidence - known).max() <= 1e-4


def test_rows_without_labels_are_a_queue_that_is_not_judged():
    report = Report.of(made_up(300, labelled=False), About())
    assert report.summary["evaluation"] is None
    assert report.summary["judgement"] == "unlabelled"
    keys = [section.key for section in sections(report.summary)]
    assert keys == ["review", "calibrated", "about", "limits", "glossary"]
    assert "wrong" not in grids(report)["confidence"].header
    assert "actual" not in report.review
    assert report.summary["review"]["errors"] is None


@pytest.mark.parametrize(("tau", "eligible"), [(0.5, 120), (0.99999, 3), (0.9999999999, 0)])
def test_extreme_thresholds_make_a_report_too(tau, eligible):
    found = made_up(120, tau=tau)
    wrong = (found.state.p >= 0.5) != found.codes
    report = Report.of(found, About(contributions=False))
    assert report.summary["eligible"]["rows"] == eligible
    assert report.summary["eligible"]["errors"] == (wrong.sum() if tau == 0.5 else 0)
    assert report.summary["judgement"] == {120: "same", 3: "none", 0: "never"}[eligible]
    assert verdict(report.summary) in markdown(report)
    json.dumps(report.summary, allow_nan=False)
    assert "nan" not in markdown(report)
    assert len(html(report)) > 10_000


def test_predictions_only_leaves_out_what_needs_a_model_and_says_why(report):
    assert report.summary["conflict"] is None
    reason = report.summary["left_out"]["conflict"]
    assert reason == SENTENCES["left_out.model"]
    for text in (html(report), markdown(report)):
        assert reason in text


def test_every_key_of_the_summary_is_documented(report):
    text = SCHEMA.read_text(encoding="utf-8")
    keys = {*report.summary, *report.summary["curves"], *report.summary["review"]}
    keys |= {*report.summary["data"], *report.summary["eligible"]}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
    assert f"version {report.summary['schema_version']}" in text


def test_report_writes_a_folder_or_one_file(planted, tmp_path):
    found = discover(planted.X[:300], planted.y[:300], planted.proba[:300], random_state=0)
    page = found.report(tmp_path / "all", name="mine", contributions=False)
    assert page == tmp_path / "all" / "report.html"
    assert {p.name for p in page.parent.iterdir()} == {
        "report.html", "report.md", "summary.json", "review.csv", "review.parquet",
    }  # fmt: skip
    for ending in ("html", "md", "json"):
        path = found.report(tmp_path / f"one.{ending}", name="mine", contributions=False)
        assert path.is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all", "one.html", "one.json", "one.md"]
    assert json.loads((tmp_path / "one.json").read_text())["data"]["name"] == "mine"
    with pytest.raises(InputError, match=r"ending '\.pdf'"):
        found.report(tmp_path / "one.pdf")


def test_the_python_block_of_the_quickstart_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    text = (SCHEMA.parent / "quickstart.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "quickstart.md", "exec"), {})
    assert (tmp_path / "my-report" / "report.html").is_file()
    assert (tmp_path / "capture.pdf").is_file()


def test_a_fitted_audit_reports_on_new_rows(planted, tmp_path):
    falcon = FalconDiscover(planted.model, random_state=0).fit(planted.X[:600], planted.y[:600])
    path = falcon.report(tmp_path / "new.json", planted.X[600:900], planted.y[600:900])
    summary = json.loads(path.read_text())
    assert summary["data"]["audited"] == 300
    assert summary["how"]["model"] == falcon.backbone_
    assert summary["conflict"]["slices"]
    assert summary["calibration"]["methods"][0]["rows"] == 300


def test_audit_ends_with_the_report_and_feedback_takes_its_folder(planted, tmp_path):
    data = planted.X[:500].assign(outcome=planted.y[:500], score=planted.proba[:500])
    data.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "out"
    words = [
        "audit",
        tmp_path / "rows.csv",
        "--target",
        "outcome",
        "--proba",
        "score",
        "--out",
        out,
    ]
    result = CliRunner().invoke(app, [*map(str, words), "--no-contributions"])
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert str(out / "report.html") in result.stdout.splitlines()[-1]
    assert summary["verdict"] in result.stdout
    assert verdict(summary) in (out / "report.md").read_text()
    assert summary["left_out"]["contributions"] == SENTENCES["left_out.contributions"]
    review = pd.read_parquet(out / "review.parquet")
    marks = review.head(12)[["row"]].assign(mark="wrong")
    marks.to_csv(tmp_path / "marks.csv", index=False)
    told = CliRunner().invoke(app, ["feedback", str(out), str(tmp_path / "marks.csv"), "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    judged = review.head(12)["confidence"] >= summary["settings"]["tau"]
    assert found["bands"][0]["wrong"] == judged.sum()
    lost = CliRunner().invoke(app, ["feedback", str(tmp_path), str(tmp_path / "marks.csv")])
    assert lost.exit_code == 1
    assert "has no review.parquet" in lost.stderr


def test_a_report_on_new_rows_asks_for_the_risk_once(monkeypatch, tmp_path):
    planted = datasets.make_planted(900, random_state=0)
    X = planted.X.select_dtypes("number").fillna(0)
    falcon = FalconDiscover(LogisticRegression(), tau=0.7, random_state=0)
    found = falcon.fit(X[:600], planted.y[:600]).examine(X[600:], planted.y[600:])
    asked = []
    risk = GatedRisk.risk
    monkeypatch.setattr(
        GatedRisk,
        "risk",
        lambda self, state: (
            asked.append(len(state) if self is falcon.ranker_ else 0) or risk(self, state)
        ),
    )
    found.report(tmp_path / "report", max_residual_rate=0.05)
    found.review()
    found.evaluate()
    found.risk()
    assert sum(asked) == 300
