"""docs/study.md names every back-end, every source of layers and every status."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from traceview import cli
from traceview.experiments.algorithms import networks
from traceview.experiments.algorithms.measuring import BACKENDS
from traceview.paths import CONVOLUTION


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/study.md").read_text(encoding="utf-8")


def test_every_back_end_has_its_row(page: str) -> None:
    pytest.importorskip("torch")
    import importlib

    rows = re.findall(r"(?m)^\| `(\w+)` \|", page.partition("## Back-ends")[2])
    modules = [importlib.import_module(f"traceview.convolution.backends.{name}") for name in BACKENDS]
    assert sorted(rows) == sorted(module.NAME for module in modules)


def test_back_ends_are_the_files_that_have_a_name() -> None:
    files = {
        path.stem for path in (CONVOLUTION / "backends").glob("*.py") if "\nNAME = " in path.read_text(encoding="utf-8")
    }
    assert files == set(BACKENDS)


def test_networks_that_it_names_exist(page: str) -> None:
    (line,) = [line for line in page.splitlines() if line.startswith("| built-in networks")]
    named = set(re.findall(r"`(\w+)`", line))
    assert len(named) > 8 and named <= set(networks.names())


def test_its_options_exist(page: str) -> None:
    parser = cli.build_parser(["study"])
    verbs = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    studies = verbs["study"]._subparsers._group_actions[0].choices  # type: ignore[index]
    known = {*studies["algorithms"]._option_string_actions, *studies["import"]._option_string_actions}
    assert set(re.findall(r"(?<![\w-])--[a-z]+", page)) <= known
