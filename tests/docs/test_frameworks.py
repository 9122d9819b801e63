"""docs/frameworks.md names every framework, status and option that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from traceview import cli
from traceview.experiments.frameworks.listed import environments, frameworks, models
from traceview.tables import BY_NAME


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/frameworks.md").read_text(encoding="utf-8")


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The cells of a table, by the names in its first column."""
    table = page.split(f"| {heading} |")[1].split("\n\n")[0]
    lines = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    return {name: cells for cells in lines for name in re.findall(r"`([\w-]+)`", cells[0])}


def test_every_framework_is_named_with_what_it_computes(page: str) -> None:
    found = rows(page, "framework")
    assert found.keys() == frameworks().keys()
    for name, framework in frameworks().items():
        assert f"`{framework.environment}`" in found[name][1] and framework.environment in environments()
        assert ("gradient" in found[name][2]) == (len(framework.modes) == 3), name


def test_every_status_is_explained(page: str) -> None:
    (status,) = [column for column in BY_NAME["framework_times"].columns if column.name == "status"]
    assert set(re.findall(r"(\w+)(?: \(|,|$)", status.doc)) - {"asked", "environment"} <= rows(page, "status").keys()
    assert len(rows(page, "status")) == 7


def test_its_options_and_models_exist(page: str) -> None:
    parser = cli.build_parser(["study"])
    verbs = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    studies = verbs["study"]._subparsers._group_actions[0].choices  # type: ignore[index]
    known = {*studies["frameworks"]._option_string_actions, "--set"}
    assert set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", page)) <= known
    every, one = re.findall(r"--models ([\w,]+)", page)
    assert every.split(",") == list(models()) and one in models()
