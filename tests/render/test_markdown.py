"""Markdown: tables stay tables whatever the names hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from traceview.analysis.model import Report
from traceview.render import markdown


def test_golden(report: Report, golden: Path) -> None:
    assert markdown.render(report) == (golden / "demo.md").read_text(encoding="utf-8")


def test_every_row_has_its_cells(report: Report, hostile: tuple[str, ...]) -> None:
    table = markdown.render(report).split("### Names\n\n")[1].split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(hostile)
    assert {line.count("|") for line in table} == {3}


def test_a_cell_is_shown_and_not_obeyed(hostile: tuple[str, ...]) -> None:
    for name in hostile:
        text = markdown.cell(name)
        assert re.fullmatch(r"[0-9A-Za-z _]*|`[^`|\n]+`", text), name


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("kernel_name and _this_", "kernel_name and \\_this\\_"),
        ("<b> & [x](y) *z* `c`", "\\<b\\> \\& \\[x\\](y) \\*z\\* \\`c\\`"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("123456789) no list", "123456789\\) no list"),
        ("    no code", "no code"),
        ("see GH-12", "see GH\\\\x2d12"),
        ("https://evil.example www.evil.example", "https\\://evil.example www\\.evil.example"),
        ("ping @someone about #12", "ping \\\\x40someone about \\\\x2312"),
        ("a\nb", "a\\\\nb"),
    ],
)
def test_running_text(text: str, escaped: str) -> None:
    assert markdown.escape(text) == escaped


def test_a_name_like_a_commit_is_no_link() -> None:
    assert markdown.cell("deadbeef1234 of deadbeef1234") == "`deadbeef1234 of deadbeef1234`"
    assert markdown.cell("sgemm 128") == "sgemm 128"
