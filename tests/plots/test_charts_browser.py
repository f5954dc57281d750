"""Charts as a browser draws them: readable on a phone, and no word covers another."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from falcon_discover.report.svg import svg
from support.chart_cases import CASES

pytestmark = pytest.mark.browser

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium on this machine", allow_module_level=True)

CSS = files("falcon_discover.report").joinpath("templates", "style.css").read_text()
# Words that lie on each other by more than a pixel, or that leave their chart.
TROUBLES = """() => [...document.querySelectorAll("svg.chart")].flatMap(chart => {
  const whole = chart.getBoundingClientRect();
  const words = [...chart.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
  const lost = words.filter(([_, b]) => b.left < whole.left - 1 || b.right > whole.right + 1);
  const pairs = words.flatMap(([a, p], i) => words.slice(i + 1).filter(([_, q]) =>
    Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 &&
    // A line of text is taller than its letters.
    Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 0.35 * Math.min(p.height, q.height)
  ).map(([b]) => [chart.id, a, b].join(" | ")));
  return [...pairs, ...lost.map(([a]) => chart.id + " outside: " + a)];
})"""  # noqa: E501
# The height of a letter, in pixels of the screen, of the smallest text that is not in a cell.
SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg.chart")].map(chart =>
  12 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width))"""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory) -> Path:
    """All charts of all cases, each under the other."""
    drawn = [
        str(svg(chart, f"{case} {name}", "words")).replace("<svg ", f'<svg id="{case}, {name}" ', 1)
        for case, make in CASES.items()
        for name, chart in make().items()
    ]
    page = tmp_path_factory.mktemp("charts") / "charts.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{CSS}</style><main class=wrap>"
        f"<section class=card>{''.join(drawn)}</section></main>",
        encoding="utf-8",
    )
    return page


def test_no_word_covers_another_and_all_can_be_read(gallery):
    errors: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(gallery.as_uri())
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(TROUBLES) == [], width
            assert page.evaluate(SMALLEST) >= 9.5, width
        # Words that are pushed together are seen.
        page.evaluate("document.querySelectorAll('text').forEach(t => t.setAttribute('x', 50))")
        assert page.evaluate(TROUBLES)
        browser.close()
    assert errors == []
