"""Terminal tables: they fit, numbers align, names keep both ends, and nothing in a name is obeyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from traceview.analysis.model import Column, Look, Report, Section
from traceview.analysis.values import result
from traceview.render import cells, table


@pytest.mark.parametrize("width", [200, 100, 60])
def test_golden(report: Report, golden: Path, width: int) -> None:
    expected = (golden / f"demo-{width}.txt").read_text(encoding="utf-8")
    assert table.render(report, width, color=False) == expected


@pytest.mark.parametrize("width", [40, 60, 80, 133, 200])
def test_no_line_is_wider_than_the_terminal(report: Report, width: int) -> None:
    for line in table.render(report, width, color=False).splitlines():
        assert cell_len(line) <= width, line


def test_a_name_keeps_both_ends() -> None:
    name = "void cudnn::winograd::generateWinogradTilesKernel<0, float, float>(params) [variant 7]"
    assert cells.shorten(name, 40) == "void cudnn::winogra...arams) [variant 7]"
    assert cells.shorten(name, 200) == name
    assert cell_len(cells.shorten("日本語の層" * 10, 21)) <= 21


def test_headers_fold_before_names_suffer() -> None:
    columns = [Column("name", "VARCHAR", ""), *(Column(f"a_long_header_{i}_ns", "BIGINT", "") for i in range(4))]
    section = Section("s", "S", "", tuple(columns), (("k" * 36, 1000, 2000, 3000, 4000),), None, "")
    text = table.render(Report("r", "", "", (section,), ()), 90, color=False)
    assert "k" * 36 in text
    assert "a long header" not in text and text.count("[us]") == 4


def test_rows_that_cannot_fit_are_printed_one_value_per_line() -> None:
    columns = [Column("name", "VARCHAR", ""), *(Column(f"column_{i}", "BIGINT", "") for i in range(12))]
    text = table.render_rows(result(columns, [("x" * 300, *range(12))]), 60, color=False)
    lines = text.splitlines()
    assert lines[0] == "row 1"
    assert lines[1].startswith(" name       xxxxx") and "..." in lines[1]
    assert lines[13] == " column_11  11"


def test_the_result_of_a_query_is_exact() -> None:
    columns = [Column("start_ns", "BIGINT", ""), Column("share_pct", "DOUBLE", ""), Column("op_id", "BIGINT", "")]
    text = table.render_rows(result(columns, [(1234567891, 33.33333333333333, 1099511627776)]), 100, color=False)
    assert text.splitlines()[0].split() == ["start_ns", "share_pct", "op_id"]
    assert text.splitlines()[2].split() == ["1,234,567,891", "33.33333333333333", "1099511627776"]
    assert text.splitlines()[3] == "1 row"


def test_a_query_without_rows_says_so() -> None:
    assert table.render_rows(result([Column("a", "INT", "")], []), 80, color=False).splitlines()[-1] == "0 rows"


def test_colour_only_where_it_is_wanted(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1m" in table.render(report, 100, color=True)
    assert "\x1b" not in table.render(report, 100)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in table.render(report)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in table.render(report)


def test_markup_in_a_name_is_text(report: Report) -> None:
    text = table.render(report, 200, color=True)
    assert "[bold red]x[/] [link=http://evil]y[/link] :smile:" in text
    assert "\x1b]" not in text and "\x1b[31m" not in text


def test_a_bar_goes_to_the_left_below_zero_and_goes_first_where_there_is_no_room() -> None:
    columns = (Column("name", "VARCHAR", ""), Column("diff_ns", "BIGINT", ""))
    section = Section("x", "", "", columns, (("a" * 30, -500_000), ("b" * 30, 1_000_000)), None, "", "diff_ns")
    report = Report("x", "", "", (section,), ())
    negative, positive = table.render(report, 80, False).splitlines()[-2:]
    assert negative.endswith("-0.500" + " " * 17 + "█████│")
    assert positive.endswith("1.000" + " " * 12 + "│" + "█" * 10)
    assert "█" not in table.render(report, 38, False)


def test_bars_share_a_scale_and_nothing_has_none() -> None:
    assert table.bars([10, 5, 0.001, None]) == ("█" * 10, "█" * 5 + " " * 5, "▏" + " " * 9, " " * 10)
    assert table.bars([0, None]) == table.bars([float("inf"), float("nan")]) == ("", "")


def test_a_pipe_has_the_width_that_is_asked_for(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert table.render(report) == table.render(report, table.PIPE_WIDTH)
    monkeypatch.setenv("COLUMNS", "60")
    assert table.render(report) == table.render(report, 60)


def wide(cells: int, verdict: str) -> Report:
    columns = [Column("name", "VARCHAR", ""), *(Column(f"n_{i}", "BIGINT", "") for i in range(cells))]
    look = Look(leave_out=("n_3", "n_0"))
    rows = (("k" * 30, *range(cells - 1), verdict),)
    return Report("r", "", "", (Section("s", "The section", "", tuple(columns), rows, None, "", look=look),), ())


def test_the_least_valuable_columns_are_left_out_and_named() -> None:
    text = table.render(wide(5, "yes"), 38, False)
    assert "row 1" not in text
    header = text.splitlines()[2:4]
    assert header[0].split() == ["n", "n"] and header[1].split() == ["name", "1", "2", "n", "4"]
    assert "columns left out at this width: the section: n 0, n 3; use a wider" in " ".join(text.split())
    assert "left out" not in table.render(wide(5, "yes"), 80, False)


def test_prose_wraps_and_is_never_cut() -> None:
    verdict = "bound by latency: " + " ".join(f"word{number}" for number in range(60))
    text = table.render(wide(2, verdict), 60, False)
    assert all(word in text.split() for word in verdict.split())
    assert all(cell_len(line) <= 60 for line in text.splitlines())


def test_rows_may_be_sentences() -> None:
    columns = (Column("step_ns", "BIGINT", ""), Column("cause", "VARCHAR", ""), Column("exposed_ns", "BIGINT", ""))
    rows = ((222_368_000, "launch\x1b[2J", None), (None, "x", 1), (1_000, "y", 13_000_000))
    look = Look(lines=("Step {step_ns}", "idle: {cause}", "exposed {exposed_ns}"), brief="")
    report = Report("r", "", "", (Section("s", "", "Long.", columns, rows, None, "", look=look),), ())
    assert table.render(report, 80, False) == (
        "Step 222 ms | idle: launch\\x1b[2J\nStep 1.00 us | idle: y | exposed 13.0 ms\n"
    )


def test_a_brief_report_names_what_a_trace_holds_nothing_of_in_one_line() -> None:
    shape = (Column("n", "BIGINT", ""),)
    full = Section("a", "Full", "", shape, ((1,),), "--limit 0 shows all 9 rows.", "", look=Look(subject="full things"))
    none = [
        Section(name, name, "", shape, (), f"No {name}.", "", look=Look(subject=name)) for name in ("copies", "layers")
    ]
    report = Report("r", "", "", (full, *none), ("Steps: 1.",), is_brief=True)
    text = table.render(report, 80, False)
    assert "Nothing in this trace about: copies, layers.\nSteps: 1.\n" in text
    assert "No copies." not in text and "--limit" not in text and "Full" in text
    assert "No copies." in table.render(replace(report, is_brief=False), 80, False)
