from __future__ import annotations

import pytest

from falcon_discover.report import About, Report, html
from support.findings import HOSTILE_NAME, made_up


@pytest.fixture(scope="module")
def browser():
    # Only here, since without a browser it skips whatever imports it.
    from support.browser import ARGUMENTS, CHROMIUM, playwright

    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory) -> str:
    """A report whose columns, labels and name are hostile."""
    found = made_up(400, hostile=True)
    report = Report.of(found, About(name=HOSTILE_NAME, budget=0.5, contributions=False))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    """A page that fails the test on any console error and on any request but for itself."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("request", lambda r: troubles.append(r.url) if not _own(r.url, address) else None)
    opened.goto(address)
    yield opened
    context.close()
    assert troubles == []


def _own(url: str, address: str) -> bool:
    return url.split("#")[0] == address or url.startswith("blob:")
