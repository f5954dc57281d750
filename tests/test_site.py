"""The documentation site: complete, and whole when it is opened from disk without a network."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import falcon_discover
from falcon_discover import FalconDiscover, Finding, rankers
from falcon_discover.cli import app
from falcon_discover.runtime.glossary import GLOSSARY

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
# Where tests run side by side, the site is built once.
on_one_worker = pytest.mark.xdist_group("site")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def commands(group=None, path=()):
    """Every command with its options, from the help itself rather than from the page's maker."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


@pytest.mark.parametrize(
    ("name", "command"), [pytest.param(*found, id=found[0]) for found in commands()]
)
def test_the_command_line_page_has_every_option_with_its_default(name, command):
    text = (DOCS / "command-line.md").read_text()
    section = re.split(rf"^#+ `{name}`$", text, flags=re.MULTILINE)[1]
    section = re.split(r"^#", section, flags=re.MULTILINE)[0]
    for parameter in command.params:
        if parameter.opts[0].startswith("-"):
            (line,) = [line for line in section.splitlines() if f"| `{parameter.opts[0]}`" in line]
            default = parameter.default
            if default is not None and not isinstance(default, bool | list):
                assert f"`{default}`" in line
        else:
            assert f"| `{parameter.name.upper()}" in section


def test_the_glossary_page_has_every_term():
    text = (DOCS / "glossary.md").read_text()
    assert [term for term in GLOSSARY if f"| **{term}** | {GLOSSARY[term]} |" not in text] == []


def reference_pages() -> dict[str, str]:
    return {path.stem: path.read_text() for path in sorted((DOCS / "reference").glob("*.md"))}


def test_the_reference_has_every_public_name():
    text = "\n".join(reference_pages().values())
    public = set(falcon_discover.__all__) - {"PAPER", "__version__", "rankers"}
    missing = [name for name in public if f"::: falcon_discover.{name}\n" not in text]
    missing += [name for name in rankers.RANKERS if f"| `{name}` |" not in text]
    assert missing == []


def test_every_page_of_the_reference_begins_with_an_example():
    pages = reference_pages()
    assert [name for name, text in pages.items() if "```python" not in text.split(":::")[0]] == []


def test_every_page_is_in_the_navigation():
    text = (REPOSITORY / "mkdocs.yml").read_text()
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert [page for page in pages if f"- {page}\n" not in text and f": {page}\n" not in text] == []


def test_the_code_that_pages_name_is_there():
    # The map has modules by their room; every other page names them by their path.
    pages = [path for path in DOCS.rglob("*.md") if path.name != "architecture.md"]
    roots = (REPOSITORY, Path(falcon_discover.__file__).parent)
    named = {
        (page.name, path)
        for page in [REPOSITORY / "README.md", *pages]
        for path in re.findall(r"(?<![\w/.-])((?:\w+/)*\w+\.(?:py|toml))\b", page.read_text())
    }
    missing = [
        (page, path) for page, path in named if not any((root / path).exists() for root in roots)
    ]
    assert missing == []


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built as `make docs` builds it."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed (make docs installs it)")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    return folder


@on_one_worker
def test_no_page_names_an_address_elsewhere(site):
    pattern = r"(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+"
    outside = {
        str(page.relative_to(site)): found
        for page in site.rglob("*.html")
        if (found := re.findall(pattern, page.read_text()))
    }
    assert outside == {}


@on_one_worker
def test_the_reference_shows_values_and_descriptions(site):
    page = html.unescape(re.sub(r"<[^>]+>", "", (site / "reference" / "finding.html").read_text()))
    text = "".join(page.split())
    assert "review(budget=0.2,cost=None)" in text
    assert "missed_bound(budget,confidence_level=0.95," in text
    # The text after the colon of a docstring's item is its description, not its type.
    assert re.search(r"max_residual_ratefloat[A-Z][a-z]+", text)


@on_one_worker
@pytest.mark.parametrize(("page", "kind"), [("estimator", FalconDiscover), ("finding", Finding)])
def test_the_reference_has_every_public_method(site, page, kind):
    source, built = (
        (DOCS / "reference" / f"{page}.md").read_text(),
        (site / "reference" / f"{page}.html").read_text(),
    )
    internal = re.search(r"!\^\(([\w|]+)\)\$", source)[1].split("|")
    own = [base for base in kind.__mro__ if base.__module__.startswith("falcon_discover")]
    methods = {
        name
        for base in own
        for name, value in vars(base).items()
        if name[0] != "_" and (callable(value) or isinstance(value, property | cached_property))
    }
    missing = [
        name
        for name in methods - set(internal)
        if f'id="falcon_discover.{kind.__name__}.{name}"' not in built
    ]
    assert missing == []


def test_the_page_for_validators_names_keys_of_the_summary():
    schema = (DOCS / "report-schema.md").read_text()
    lines = (DOCS / "model-validation.md").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if "key in `summary.json`" in line)
    keys = [
        name
        for line in lines[start + 2 :][: lines[start:].index("") - 2]
        for key in re.findall("`([a-z_.]+)`", line.split("|")[3])
        for name in key.split(".")
    ]
    assert len(keys) > 10
    assert [key for key in keys if f"`{key}`" not in schema] == []


@on_one_worker
@pytest.mark.browser
def test_search_works_from_disk_without_any_request(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    requests: list[str] = []
    errors: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.keyboard.type("review budget")
        page.wait_for_selector(".md-search-result__item a")
        titles = page.locator(".md-search-result__item h1, .md-search-result__item h2")
        assert any("budget" in title.lower() for title in titles.all_inner_texts())
        page.locator(".md-search-result__item a").first.click()
        page.wait_for_load_state()
        assert page.url.startswith(site.as_uri())
        assert page.url.split("?")[0] != (site / "index.html").as_uri()
        browser.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "about:"))] == []


# What readers of earlier versions stumbled over, and close relatives of it.
STUMBLED_OVER = re.compile(
    "|".join(
        (
            r"\d %(?![}\]])", "lets? expect", r"\bforesees?\b", r"\(foreseen\)", "as sure as right",
            "of twenty", "one may miss", "is no (?:saved|JSON|skops)", "confidence admits",
            "(?:must|should) be nought", "left unread", "who has neighbours", "who must not",
            "hand (?:them in|those on)", "command goes on", "holds? by itself", "not all at once",
            "calibrated at all", "signal earns", "decision unread", "left out to save time",
            "few reference rows are like", "models? predicts? otherwise", "of those wrong:",
            "count in distances", "size that counts", "close to exact", "of the larger label",
            "a wrong name lists", "every cell is right", "not there to be found",
            "no model to probe", "some mix speaks", "frequent than their confidence,",
            "mixed with its neighbours and",
        )
    ),
    flags=re.IGNORECASE,
)  # fmt: skip


def test_no_page_and_no_code_speaks_as_readers_stumbled_over():
    pages = [REPOSITORY / "README.md", REPOSITORY / "SECURITY.md", *DOCS.rglob("*.md")]
    code = [
        path
        for folder in (REPOSITORY / "src", REPOSITORY / "examples")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".j2", ".js")
    ]
    found = {
        str(path.relative_to(REPOSITORY)): hits
        for path in [*pages, *code]
        if (hits := STUMBLED_OVER.findall(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_the_tutorial_runs_as_it_is_written(tmp_path, monkeypatch):
    text = (DOCS / "tutorial.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL):
        if language == "python":
            exec(compile(block, "tutorial.md", "exec"), names)
            continue
        for line in block.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "falcon-discover"
            said = CliRunner().invoke(app, arguments)
            assert said.exit_code == 0, said.output
    assert (tmp_path / "my-report" / "report.html").stat().st_size > 10_000
    summary = json.loads((tmp_path / "my-report" / "summary.json").read_text())
    sure, wrong = summary["eligible"]["rows"], summary["eligible"]["errors"]
    found = {
        line["ranker"]: round(line["captured"])
        for line in summary["evaluation"]["captures"]
        if line["budget"] == 0.2 and line["tau"] == 0.9
    }
    said = re.sub(r"\s+", " ", text)
    assert f"at least 90% sure of {sure} of its 800 predictions, and {wrong} of those" in said
    assert f"(160 rows) would have found {found['auto']} of them" in said
    assert f"the simple rule, would have found {found['gated_confidence']}." in said
    assert names["found"].events.sum() == wrong
    assert len(pd.read_parquet(tmp_path / "scores")) == 200
    assert len(pd.read_csv(tmp_path / "queue.csv")) == 20
