"""Help: an example for every command, options in groups, and no jargon."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from falcon_discover.cli import app

COMMANDS = sorted(typer.main.get_command(app).commands)


def said(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    assert result.exit_code == 0
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.output).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_begins_with_its_name(name):
    assert f"falcon-discover {name}" in said(name, "-h")


@pytest.mark.parametrize(
    "words",
    [
        (group, name)
        for group in ("bench", "datasets")
        for name in sorted(typer.main.get_command(app).commands[group].commands)
    ],
)
def test_every_command_of_a_group_has_an_example_too(words):
    assert f"falcon-discover {' '.join(words)}" in said(*words, "-h").partition("Example: ")[2]


@pytest.mark.parametrize("name", ["audit", "score"])
def test_options_are_grouped(name):
    command = typer.main.get_command(app).commands[name]
    panels = {
        getattr(option, "rich_help_panel", None)
        for option in command.params
        if option.param_type_name == "option" and option.name != "help"
    }
    assert None not in panels
    assert len(panels) >= 4


def test_the_help_of_audit_says_what_happens_by_default_and_how_long_it_takes():
    text = said("audit", "-h")
    assert "By default" in text
    assert "minute" in text


def test_an_example_in_the_help_is_a_command_that_parses():
    text = CliRunner().invoke(app, ["audit", "-h"], env={"COLUMNS": "200"}).output
    examples = re.findall(r"falcon-discover (audit rows.csv .*)", text)
    assert len(examples) == 4
    for example in examples:
        # Only the file is missing.
        result = CliRunner().invoke(app, example.split())
        assert "rows.csv" in result.stderr
        assert "No such option" not in result.stderr
