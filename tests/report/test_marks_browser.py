"""Marks in a real browser: they are kept, downloaded and imported, and nothing else is."""

from __future__ import annotations

import csv
import re

import pandas as pd
import pytest

from falcon_discover.report import About, Report, html
from support.browser import playwright
from support.findings import made_up

pytestmark = pytest.mark.browser


def marked(page) -> dict[str, int]:
    """How many rows have each mark, as the page counts them."""
    words = page.locator("#tally").inner_text()
    counts = {mark: int(n) for n, mark in re.findall(r"(\d+) ([a-z ]+)", words)}
    return {mark: counts[mark] for mark in ("right", "wrong", "unsure")}


def reload(page, words: str) -> None:
    """Load the page again: what it stores takes a moment to arrive in the browser's own process."""
    for _ in range(10):
        page.wait_for_timeout(500)
        page.reload()
        if words in page.locator("#tally").inner_text():
            break
    playwright.expect(page.locator("#tally")).to_contain_text(words)


def test_marks_download_only_where_there_are_any(page):
    assert page.locator("#download").is_disabled()
    page.locator("tr.row .open").first.focus()
    page.keyboard.press("w")
    assert page.locator("#download").is_enabled()
    page.keyboard.press("w")
    assert page.locator("#download").is_disabled()


@pytest.mark.parametrize("stored", ["7", '"text"', "[1]", "null", '{"3": 4}', "{"])
def test_marking_works_whatever_the_storage_holds(page, stored):
    page.evaluate(
        """(words) => {
            const key = JSON.parse(document.getElementById("rows").textContent).key;
            localStorage.setItem("falcon-discover:marks:" + key, words);
        }""",
        stored,
    )
    page.reload()
    assert marked(page) == {"right": 0, "wrong": 0, "unsure": 0}
    page.locator("tr.row .open").first.focus()
    page.keyboard.press("w")
    # The key is on its way to the page until the tally shows it.
    playwright.expect(page.locator("#tally")).to_contain_text("1 wrong")
    reload(page, "1 wrong")


def test_marks_survive_a_reload_and_download_as_a_safe_csv(page, tmp_path):
    page.locator("tr.row .open").first.focus()
    page.keyboard.press("w")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    third = page.locator("tr.row").nth(2).get_by_role("button", name="is unsure")
    third.click()
    rows = [text.split()[0] for text in page.locator("tr.row .open").all_inner_texts()[:3]]
    reload(page, "1 unsure")
    assert marked(page) == {"right": 1, "wrong": 1, "unsure": 1}
    pressed = page.locator('.marks button[aria-pressed="true"]')
    assert pressed.count() == 3
    with page.expect_download() as caught:
        page.locator("#download").click()
    path = tmp_path / "marks.csv"
    caught.value.save_as(path)
    assert caught.value.suggested_filename == "marks.csv"
    with path.open(encoding="utf-8", newline="") as file:
        marks = list(csv.DictReader(file))
    assert [(m["row"], m["mark"]) for m in marks] == list(
        zip(rows, ["wrong", "right", "unsure"], strict=True)
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#clear").click()
    assert page.locator('.marks button[aria-pressed="true"]').count() == 0
    page.locator("#import").set_input_files(path)
    playwright.expect(page.locator("#said")).to_contain_text("3")
    assert marked(page) == {"right": 1, "wrong": 1, "unsure": 1}
    assert [(m["row"], m["mark"]) for m in marks] == [
        (row, mark) for row, mark in zip(rows, ["wrong", "right", "unsure"], strict=True)
    ]


@pytest.mark.parametrize(
    ("lines", "taken"),
    [
        ("row,mark\n{row},WRONG\n", 1),
        ('\ufeff"mark","row"\r\n"wrong","{row}"\r\n"right","999999"\r\n', 1),
        ("row,mark\n{row},maybe\n", 0),
        ("row;mark\n{row};wrong\n", 0),
        ("", 0),
        ('"', 0),
    ],
)
def test_marks_are_imported_from_files_and_nothing_else_is(page, tmp_path, lines, taken):
    row = page.locator("tr.row .open").first.inner_text()
    path = tmp_path / "marks.csv"
    path.write_text(lines.format(row=row), encoding="utf-8", newline="")
    page.locator("#import").set_input_files(path)
    playwright.expect(page.locator("#said")).not_to_be_empty()
    assert marked(page) == {"right": 0, "wrong": taken, "unsure": 0}


def test_marks_of_rows_that_go_by_another_name_are_not_imported(browser, tmp_path):
    report = Report.of(
        made_up(60), About(identity=pd.Series(range(100, 160), name="key"), contributions=False)
    )
    (tmp_path / "report.html").write_text(html(report), encoding="utf-8")
    row = report.rows["rows"][0][0]
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    for key, taken in ((100 + row + 1, 0), (100 + row, 1)):
        (tmp_path / "marks.csv").write_text(f"row,key,mark\n{row},{key},wrong\n")
        page.locator("#import").set_input_files(tmp_path / "marks.csv")
        playwright.expect(page.locator("#said")).not_to_be_empty()
        playwright.expect(page.locator("#tally")).to_contain_text(f" {taken} wrong")
    page.close()


def test_a_label_can_be_marked_wrong_where_it_contradicts_the_prediction(page, tmp_path):
    page.locator("#filter-label").select_option("right")
    assert page.get_by_role("button", name="wrong label").count() == 0
    page.locator("#filter-label").select_option("wrong")
    first = page.locator("tr.row").first
    row = first.locator(".open").inner_text()
    assert first.get_by_role("button", name="wrong label").is_visible()
    first.locator(".open").focus()
    page.keyboard.press("l")
    playwright.expect(page.locator("#tally")).to_contain_text("1 label wrong")
    with page.expect_download() as caught:
        page.locator("#download").click()
    caught.value.save_as(tmp_path / "marks.csv")
    with (tmp_path / "marks.csv").open(encoding="utf-8", newline="") as file:
        assert [(m["row"], m["mark"]) for m in csv.DictReader(file)] == [(row, "label wrong")]
    # A hidden label cannot be judged, and its button would give it away.
    page.locator("#blind").check()
    assert page.get_by_role("button", name="wrong label").count() == 0


def test_formulas_in_marks_are_quoted(browser, tmp_path):
    found = made_up(60)
    keys = pd.Series(["=1+1", "@sum", "+1", "-1"] * 15, name="=key")
    report = Report.of(found, About(identity=keys, contributions=False))
    path = tmp_path / "report.html"
    path.write_text(html(report), encoding="utf-8")
    page = browser.new_page(accept_downloads=True)
    page.goto(path.as_uri())
    for i in range(4):
        page.locator("tr.row").nth(i).get_by_role("button", name="is wrong").click()
    with page.expect_download() as caught:
        page.locator("#download").click()
    caught.value.save_as(tmp_path / "marks.csv")
    page.close()
    with (tmp_path / "marks.csv").open(encoding="utf-8", newline="") as file:
        head, *marks = list(csv.reader(file))
    assert head[1] == "'=key"
    assert len(marks) == 4
    assert all(mark[1][0] == "'" for mark in marks)
