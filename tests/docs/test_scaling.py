"""docs/scaling.md names options, placeholders and sections that exist, all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from traceview import cli
from traceview.experiments.scaling import command
from traceview.experiments.scaling.models import MODELS


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/scaling.md").read_text(encoding="utf-8")


def test_its_options_exist(page: str) -> None:
    parser = cli.build_parser(["study"])
    verbs = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    studies = verbs["study"]._subparsers._group_actions[0].choices  # type: ignore[index]
    known = {name for name in studies["scaling"]._option_string_actions if len(name) > 2} - {"--help", "--debug"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![a-z_])", page.partition("`traceview study import")[0]))
    assert named - known == {"--standalone"}, "torchrun's own, in the example"
    assert known - named <= {"--output"}


def test_every_placeholder_model_and_section_has_its_row(page: str, root: Path) -> None:
    assert set(re.findall(r"(?m)^\| `(\{\w+\})` \|", page)) == {
        getattr(command, name) for name in ("RANKS", "BATCH", "GLOBAL_BATCH", "PORT", "DEVICE")
    }
    assert re.findall(r"(?m)^\| ([a-z ]+) \| 2 ", page) == [*MODELS]
    sections = tomllib.loads((root / "queries/scaling/report.toml").read_text())["sections"]
    assert re.findall(r"(?m)^\| `(\w+)` \|", page) == sections
