"""CSV: any reader gets the same cells, every line is a whole row, and no spreadsheet runs anything."""

from __future__ import annotations

import csv
import io
import sys
import unicodedata
from importlib import import_module
from pathlib import Path

import pytest

from traceview.analysis.model import Column, Report, Section
from traceview.analysis.values import result
from traceview.render.characters import clean

renderer = import_module("traceview.render.csv")


def test_golden(report: Report, golden: Path) -> None:
    assert renderer.render(report) == (golden / "demo.csv").read_text(encoding="utf-8")


def test_one_section_is_plain_csv() -> None:
    columns = [Column("name", "VARCHAR", ""), Column("n", "BIGINT", ""), Column("ok", "BOOLEAN", "")]
    text = renderer.render(result(columns, [('a "b", c', 2**70, True), (None, 0.1, False)]))
    assert text == 'name,n,ok\n"a ""b"", c",1180591620717411303424,true\n,0.1,false\n'


def test_sections_can_be_split_again(report: Report, hostile: tuple[str, ...]) -> None:
    parts = renderer.render(report).split("\n\n# section: ")
    names = [part.removeprefix("# section: ").partition("\n")[0] for part in parts]
    assert names == ["kernels", "steps", "attacks"]
    rows = list(csv.reader(io.StringIO(parts[2].partition("\n")[2])))
    assert rows[0] == ["name", "calls"]
    assert len(rows) == len(parts[2].splitlines()) - 1 == len(hostile) + 1
    assert all(len(row) == 2 and row[1] == "1" for row in rows[1:])


def test_text_that_is_a_formula_is_disarmed() -> None:
    cells = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1", "a=1", "'x", ""]
    text = renderer.render(result([Column("=c", "VARCHAR", "")], [(cell,) for cell in cells]))
    lines = [row[0] for row in csv.reader(io.StringIO(text))]
    assert lines == ["'=c", "'=1+1", "'+1", "'-1", "'@a", "'\\t=1", "'\\r=1", "'＝1", "a=1", "'x", ""]


@pytest.mark.parametrize(
    ("text", "disarmed"),
    [
        ("  =1", "'  =1"),
        ("\u00a0=1", "'\\xa0=1"),
        ('"=1', "'\"=1"),
        ("\u200b\t=1", "'\\u200b\\t=1"),
        (";=1", "';'=1"),
        ("a; =1", "a;' =1"),
        ("a|;;@x", "a|;;'@x"),
        (", -1", "', -1"),
        ("a=1; b-2 f<1, -1>", "a=1; b-2 f<1, -1>"),
    ],
)
def test_a_formula_behind_what_a_spreadsheet_skips(text: str, disarmed: str) -> None:
    assert list(csv.reader(io.StringIO("".join(renderer.stream([Column("n", "VARCHAR", "")], [[(text,)]])))))[1] == [
        disarmed
    ]


@pytest.mark.slow
def test_every_sign_that_is_a_form_of_one_is_disarmed() -> None:
    forms = [
        char
        for char in map(chr, range(0x20, sys.maxunicode + 1))
        if unicodedata.normalize("NFKC", char)[:1] in tuple("=+-@\u2212") and clean(char) == char
    ]
    assert {"=", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u2212", "\ufe63", "\u207a"} < set(forms)
    lines = "".join(renderer.stream([Column("n", "VARCHAR", "")], [[(f"{char}1",) for char in forms]])).splitlines()
    assert lines[1:] == [f"'{char}1" for char in forms]


def test_a_long_run_of_separators_takes_no_time() -> None:
    text = "".join(renderer.stream([Column("n", "VARCHAR", "")], [[(";" * 1_000_000 + "x=",)]]))
    assert len(text) == 1_000_005


def test_a_negative_number_is_a_number() -> None:
    assert (
        renderer.render(result([Column("n", "BIGINT", "")], [(-5,), (-0.5,), (float("nan"),)])) == 'n\n-5\n-0.5\n""\n'
    )


def test_several_reports_name_their_sections(report: Report) -> None:
    other = Report("other", "", "", (Section("a", "", "", (Column("x", "INT", ""),), ((1,),), None, ""),), ())
    assert renderer.render_all([report, other]).endswith("\n\n# section: other.a\nx\n1\n")
