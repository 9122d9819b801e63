"""The best finding in the overview: the one that could save most, with its command; none and cannot tell differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given

from traceview.analysis import advice, finding, reports
from traceview.analysis.model import Column, Report, Section
from traceview.cli import advise
from traceview.render import table


def test_the_threshold_is_that_of_the_verb() -> None:
    assert finding.AT_LEAST_PCT == advise.AT_LEAST_PCT


def test_it_is_the_first_that_advise_lists(tmp_path: Path) -> None:
    given = training(2, 1000)
    for start in (0, 1000):
        for number in range(8):
            at = start + 100 * number
            given.kernel("ampere_sgemm_128x64_nn", at + 60, at + 70, launched=at + 50)
    with given.open(tmp_path, reports.asked([reports.load("overview")])) as connection:
        found = [answer for answer in advice.run(connection, advice.load()) if answer.status == "found"]
        section = finding.Remembered(False).section(connection)
        report = reports.run(connection, "overview", source="run1")
    row = dict(zip((column.name for column in section.columns), section.rows[0], strict=True))
    assert (row["rule"], row["saving_ns"], row["saving_pct"]) == (
        found[0].rule,
        found[0].saving_ns,
        found[0].saving_pct,
    )
    text = table.render(report, 80, False)
    assert f"Best finding: {found[0].title}" in text and f"\ntraceview advise run1 {found[0].rule}" in text


def test_nothing_found_is_not_nothing_to_tell(tmp_path: Path) -> None:
    with Given().open(tmp_path, advice.asked(advice.load())) as connection:
        (row,) = finding.Remembered(False).section(connection).rows
    assert row[0] == f"No advice: all {len(advice.names())} rules need data that this trace does not hold."
    assert row[1] is None and row[6] == "traceview advise TRACE --all"


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("a/run1", "a/run1"),
        ("x" * 25, "TRACE"),
        ("two words", "TRACE"),
        ("-rf", "TRACE"),
        ("a;b", "TRACE"),
        ("\x1b[2J", "TRACE"),
    ],
)
def test_only_short_and_plain_names_stand_in_a_command(source: str, called: str) -> None:
    columns = (Column("command", "VARCHAR", ""), Column("why", "VARCHAR", ""))
    rows = (("traceview report TRACE idle", "of TRACE itself"), (None, None))
    part = Section("s", "", "", columns, rows, None, "")
    done = finding.named(Report("r", "", "", (part,), ("see traceview report TRACE study",)), source)
    assert done.footer == (f"see traceview report {called} study",)
    assert done.sections[0].rows == ((f"traceview report {called} idle", "of TRACE itself"), (None, None))
