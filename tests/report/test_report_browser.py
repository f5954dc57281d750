"""The report in a real browser: it sorts, filters, opens rows, fits the screen, stays to itself."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from falcon_discover import datasets, discover
from falcon_discover.report import About, Report, html
from falcon_discover.report.labels import PAGE
from support.findings import HOSTILE_NAME, made_up

pytestmark = pytest.mark.browser


def column(page, number: int) -> list[str]:
    return page.locator(f"tr.row td:nth-child({number})").all_inner_texts()


def numbers(texts: list[str]) -> list[float]:
    return [float(text.split()[0].rstrip("%")) for text in texts]


def listed(page) -> tuple[int, ...]:
    """The numbers in the line below the list: rows shown, rows that match, rows in all."""
    return tuple(map(int, re.findall(r"\d+", page.locator("#status").inner_text())))


def test_hostile_values_do_nothing_but_show(page):
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == HOSTILE_NAME
    page.locator("tr.row .open").first.click()
    assert HOSTILE_NAME in page.locator("tr.detail").inner_text()
    assert page.locator("tr.detail img").count() == 0


def test_it_sorts_by_keyboard_and_by_mouse(page):
    assert page.locator("tr.row").count() == 25
    head = page.locator('th[data-key="confidence"]')
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    most = numbers(column(page, 4))
    assert most == sorted(most, reverse=True)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    least = numbers(column(page, 4))
    assert least == sorted(least)
    assert least[0] < most[0]


def test_it_filters_and_says_how_many(page):
    shown, everything = listed(page)
    assert shown == 25
    page.locator("#filter-label").select_option("wrong")
    _, found, among = listed(page)
    assert found < among == everything
    assert page.locator("td.label .tag.wrong").count() == page.locator("tr.row").count()
    page.locator("#filter-label").select_option("")
    page.locator("#search").fill("driver")
    assert 0 < listed(page)[1] < everything
    page.locator("#search").fill("no such text")
    assert page.locator("tr.row").count() == 0
    page.locator("#search").fill("")
    page.locator("#more").click()
    assert page.locator("tr.row").count() == 50


def test_a_row_opens_to_its_signals_neighbours_values_and_reason(page):
    button = page.locator("tr.row .open").nth(2)
    reason = column(page, 7)[2]
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("tr.row .open").nth(2).get_attribute("aria-expanded") == "true"
    detail = page.locator("tr.detail")
    text = detail.inner_text()
    assert reason in text
    words = detail.locator('[data-key="neighbours"]').inner_text()
    assert sum(map(int, re.findall(r"\d+", words)[::2])) == 25
    assert detail.locator(".dots i").count() == 25
    signals = detail.locator('.evidence [data-key^="evidence-"] tbody tr')
    assert signals.count() == len(page.evaluate("falcon.data.signals"))
    assert "2020-" in detail.locator('[data-key="values"]').inner_text()
    tails = page.evaluate("(i) => falcon.data.rows[i][falcon.data.names.indexOf('tail')]", 2)
    columns = page.evaluate("falcon.data.columns")
    first = detail.locator('[data-key="values"] tbody th').first.inner_text()
    assert tails[columns.index(first)] == min(tails)
    page.keyboard.press("Enter")
    assert page.locator("tr.detail").count() == 0


def test_known_labels_can_be_hidden_for_a_blind_review(page):
    page.locator("#blind").check()
    assert page.locator("td.label .tag.wrong, td.label .tag.right").count() == 0


def test_a_blind_review_can_neither_filter_nor_sort_by_what_is_hidden(page):
    page.locator("#filter-label").select_option("wrong")
    page.locator('th[data-key="label"] button').click()
    page.locator("#blind").check()
    assert len(listed(page)) == 2
    ranks = numbers(column(page, 1))
    assert ranks == sorted(ranks)
    assert page.locator("#filter-label").is_disabled()
    assert page.locator('th[data-key="label"] button').is_disabled()
    page.locator("#blind").uncheck()
    assert page.locator("#filter-label").is_enabled()
    assert len(listed(page)) == 3


def test_a_search_without_a_match_says_so(page):
    page.locator("#search").fill("no such text")
    assert page.locator("table.queue tr.none").is_visible()


def test_dark_mode_follows_the_system_and_the_button(page, browser, address):
    def ground(opened) -> str:
        return opened.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground(page)
    page.locator("#theme").click()
    dark = ground(page)
    assert dark != light
    page.reload()
    assert ground(page) == dark
    assert page.locator("#theme").inner_text() == PAGE["theme.light"]
    night = browser.new_page(color_scheme="dark")
    night.goto(address)
    assert ground(night) == dark
    night.locator("#theme").click()
    assert ground(night) == light
    night.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1280, 1440])
def test_nothing_sticks_out_of_the_screen(page, width, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    page.locator("tr.row .open").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    button = page.locator("tr.row").first.get_by_role("button", name="is unsure")
    box = button.bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= width
    if width == 390:
        assert box["height"] >= 44
        assert box["width"] >= 44


LONG_LABEL = "application_declined_because_of_insufficient_documentation"


@pytest.fixture(scope="module")
def long_address(tmp_path_factory) -> str:
    """A report whose labels are long words."""
    found = made_up(300)
    audit = replace(found.audit, classes=np.array(["approved", LONG_LABEL]))
    long = replace(found, audit=audit)
    vars(long)["regions"] = found.regions
    path = tmp_path_factory.mktemp("long") / "report.html"
    path.write_text(html(Report.of(long, About(contributions=False))), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1024, 1280])
def test_long_labels_cover_nothing_and_leave_room_for_marks(browser, long_address, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(long_address)
    page.locator("#filter-label").select_option("wrong")
    row = page.locator("tr.row", has_text=LONG_LABEL).first
    # The texts themselves, since a cell may be narrower than what it holds.
    parts = [
        row.locator(part).first.bounding_box() for part in (".open", "td.predicted bdi", ".tag")
    ]
    last = row.get_by_role("button", name="is unsure").bounding_box()
    assert last["x"] + last["width"] <= width
    for i, one in enumerate(parts):
        assert one["width"] > 20
        for other in parts[i + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
                or one["y"] + one["height"] <= other["y"] + 1
                or other["y"] + other["height"] <= one["y"] + 1
            )
            assert apart
    page.close()


def test_the_first_rows_are_on_the_first_screen(browser, tmp_path):
    report = Report.of(made_up(400), About(name="rows.csv", contributions=False))
    (tmp_path / "report.html").write_text(html(report), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto((tmp_path / "report.html").as_uri())
    for part in ("#facts", "#verdict", "#next", "#figures", "#review h2"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 720
    for row in range(2):
        box = page.locator("tr.row").nth(row).bounding_box()
        assert box["y"] + box["height"] <= 720
    page.close()


def test_all_risk_bars_have_one_stated_scale(browser, tmp_path):
    planted = datasets.make_planted(500, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    report = Report.of(found, About(contributions=False))
    (tmp_path / "report.html").write_text(html(report), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    top = int(re.findall(r"\d+", page.locator("th.risk .scale").inner_text())[-1])
    risks = numbers([text.strip() for text in page.locator("td.risk").all_inner_texts()])
    widths = page.locator("td.risk .meter i").evaluate_all("all => all.map(i => i.style.width)")
    for risk, width in zip(risks, widths, strict=True):
        assert int(width.rstrip("%")) == pytest.approx(100 * risk / top, abs=1)
    assert max(risks) <= top
    page.close()


def test_a_region_opens_to_its_rows(browser, tmp_path):
    planted = datasets.make_planted(1_500, random_state=0)
    found = discover(planted.X, planted.y, planted.proba, random_state=0)
    assert found.regions.confirmed
    report = Report.of(found, About(contributions=False))
    (tmp_path / "report.html").write_text(html(report), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    members = page.locator("[data-region]").first
    number = int(members.get_attribute("data-region"))
    inside = found.regions.numbered[number - 1].holds(found.table.frame)
    own = inside[report.review["row"].to_numpy()].sum()
    members.locator("summary").click()
    assert int(re.findall(r"\d+", members.locator("summary").inner_text())[0]) == own > 0
    assert members.locator("li").count() == min(5, own)
    members.locator("button").click()
    assert listed(page)[1] == own
    page.close()


def test_the_printed_page_hides_what_cannot_be_pressed(page):
    page.emulate_media(media="print")
    assert page.locator("#download").is_hidden()
    assert page.locator("nav").is_hidden()
    assert page.locator("#figure-capture svg").is_visible()
    assert page.locator("#figure-capture details").is_hidden()


def test_printed_numbers_stay_on_one_line_and_tables_on_the_page(page):
    # The width of an A4 page between its margins.
    page.set_viewport_size({"width": 688, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 688
    broken = page.locator(".grid td.tight").evaluate_all(
        """cells => cells.filter((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []


def test_printed_pages_are_numbered(page):
    numbered = page.evaluate(
        """() => [...document.styleSheets[0].cssRules]
            .filter((rule) => rule.conditionText === "print" || rule.media?.mediaText === "print")
            .some((rule) => rule.cssText.includes("counter(page)"))"""
    )
    assert numbered
    assert len(page.pdf(format="A4", prefer_css_page_size=True)) > 10_000


def test_the_first_rows_are_there_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("#plain tbody tr").count() == 10
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(browser, address, scheme):
    here = Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js"
    axe = os.environ.get("FALCON_DISCOVER_AXE", here)
    if not Path(axe).is_file():
        pytest.skip("axe-core is not here: 'make axe' fetches it with npm")
    # The page's own policy allows no other script, so axe runs outside of it.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    page.locator("tr.row .open").first.click()
    page.locator("tr.row").nth(1).get_by_role("button", name="is wrong").click()
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.add_script_tag(path=axe)
    found = page.evaluate("axe.run(document)")["violations"]
    context.close()
    grave = [
        (v["id"], v["nodes"][0]["html"][:200])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert grave == []
