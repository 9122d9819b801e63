"""The best finding in the overview: the one that could save most, with its command; none and cannot tell differ."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from advised import training
from given import Given

from traceview.analysis import advice, best_finding, certainty, finding, reports
from traceview.analysis.model import Column, Finding, Report, Section
from traceview.render import table


def test_it_is_the_first_that_advise_lists(tmp_path: Path) -> None:
    given = training(2, 1000)
    for start in (0, 1000):
        for number in range(8):
            at = start + 100 * number
            given.kernel("ampere_sgemm_128x64_nn", at + 60, at + 70, launched=at + 50)
    with given.open(tmp_path) as connection:
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


def test_a_guess_is_never_the_best_finding(tmp_path: Path) -> None:
    """Without steps, one pause of 900 us before a kernel may be a library that is loaded."""
    given = Given()
    given.kernel("k", 0, 10, launched=0)
    given.kernel("k", 910, 920, launched=905)
    with given.open(tmp_path) as connection:
        first, *_ = best_finding.run(connection)
        report = reports.run(connection, "overview", source="run1")
    assert (first.rule, certainty.level(first), first.status) == ("host_bound", "low", "found")
    text = table.render(report, 80, False)
    assert "No finding is more than a guess. Of low confidence: host_bound" in text
    assert "\ntraceview advise run1" in text and "up to" not in text


def _finding(rule: str, saving_ns: int, confidence: str) -> Finding:
    query, *_ = advice.load([rule])
    texts = {name: query.extra[name] for name in ("why", "cost", "unless")}
    facts = {"status": "found", "saving_ns": saving_ns, "confidence": confidence, "step_ns": 100, "of": "the step"}
    nothing = {column.name: None for column in fields(Finding)}
    return Finding(**{**nothing, **texts, "rule": rule, "title": query.title, "n_ranks": 1, "path": "", **facts})


def test_what_is_certain_stands_before_a_larger_guess_with_its_confidence(tmp_path: Path) -> None:
    found = [
        _finding("host_bound", 93, "low: one gap is most of it"),
        _finding("small_grids", 4, "medium: the sizes are recorded"),
        _finding("tiny_copies", 3, "high for the copies"),
    ]
    assert [each.rule for each in advice.ordered(found)] == ["small_grids", "tiny_copies", "host_bound"]
    with training(2, 1000).open(tmp_path) as connection:
        row = best_finding.row(connection, advice.ordered(found))
    section = finding._section(row)
    text = table.render(Report("r", "", "", (section,), ()), 100, False)
    assert "medium confidence" in text and "2 more findings: tiny_copies, host_bound" in text


def test_nothing_found_is_not_nothing_to_tell(tmp_path: Path) -> None:
    with Given().open(tmp_path) as connection:
        (row,) = finding.Remembered(False).section(connection).rows
    assert row[0] == f"No advice: all {len(advice.names())} rules need data that this trace does not hold."
    assert row[1] is None and row[7] == "traceview advise TRACE --all"


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
