"""The data flow in one direction: a test walks the imports and fails on an upward edge."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import falcon_discover

ROOT = Path(falcon_discover.__file__).parent
REPOSITORY = Path(__file__).parents[1]

# From the bottom up; a room may import from rooms before it, and from itself.
ROOMS = (
    "settings",
    "exceptions",
    "notices",
    "progress",
    "interrupts",
    "locks",
    "ordering",
    "metrics",
    "inference",
    "words",
    "suggestions",
    "versions",
    "threads",
    "tables",
    "twins",
    "view",
    "datasets",
    "search",
    "neighbours",
    "predicting",
    "mixing",
    "backbones",
    "shelf",
    "crossfit",
    "opinions",
    "signals",
    "rankers",
    "baselines",
    "calibration",
    "regions",
    "risks",
    "reasons",
    "sides",
    "results",
    "bounds",
    "guarantee",
    "plausibility",
    "contributions",
    "curves",
    "plots",
    "delimited",
    "files",
    "report",
    "judgements",
    "discovery",
    "checks",
    "answers",
    "persistence",
    "estimator",
    "loading",
    "predictions",
    "audit",
    "engines",
    "bench",
    "cli",
    "__main__",
)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def edges() -> list[tuple[str, str]]:
    found = []
    for path in ROOT.rglob("*.py"):
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("falcon_disc"):
                if node.module == "falcon_discover":
                    found += [(here, alias.name) for alias in node.names]
                else:
                    found.append((here, room_of(node.module)))
    return [(here, there) for here, there in found if here != "__init__" and there in ROOMS]


def test_every_room_is_on_the_map():
    rooms = {path.relative_to(ROOT).with_suffix("").parts[0] for path in ROOT.rglob("*.py")}
    assert rooms - {"__init__"} == set(ROOMS)


def test_no_room_imports_from_a_room_above_it():
    upward = [(a, b) for a, b in edges() if ROOMS.index(b) > ROOMS.index(a)]
    assert upward == []


def test_rankers_and_regions_see_the_state_but_no_model_and_no_table_reader():
    for room in ("rankers", "regions"):
        reached = {there for here, there in edges() if here == room}
        assert not reached & {"mixing", "backbones", "crossfit", "view", "datasets", "neighbours"}


def test_the_map_in_the_docs_names_every_room():
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    missing = [room for room in ROOMS if room != "__main__" and f"`{room}" not in text]
    assert missing == []


def test_no_module_has_outgrown_its_room():
    long = {
        path.name: lines
        for path in ROOT.rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


def pages_with_python():
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs" / "guides").glob("*.md"))]
    found = {
        page: re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) for page in pages
    }
    return {str(page.relative_to(REPOSITORY)): blocks for page, blocks in found.items() if blocks}


@pytest.mark.parametrize(("page", "blocks"), pages_with_python().items())
def test_the_python_blocks_of_a_page_run(page, blocks):
    for block in blocks:
        exec(compile(block, page, "exec"), {})


def test_the_figures_in_readme_and_docs_are_those_in_results():
    path = REPOSITORY / "scripts" / "update_readme.py"
    spec = importlib.util.spec_from_file_location("update_readme", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for page in module.PAGES:
        text = (REPOSITORY / page).read_text()
        assert module.filled(text) == text, page
