"""Findings of advice: the best one in the overview; none and cannot tell differ; answers that are remembered."""

from __future__ import annotations

import functools
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest
from advised import training
from asked import held
from given import Given

from traceview import store
from traceview.analysis import advice, certainty, findings, reports
from traceview.analysis.findings import Answers
from traceview.analysis.model import TRACE, Column, Finding, Report, Section
from traceview.render import table
from traceview.store import materialized
from traceview.store.learned import Place

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


def launched_late() -> Given:
    """Two steps of short kernels, for whose launches the device waits."""
    given = training(2, 1000)
    for start in (0, 1000):
        for number in range(8):
            at = start + 100 * number
            given.kernel("ampere_sgemm_128x64_nn", at + 60, at + 70, launched=at + 50)
    return given


@pytest.mark.slow
def test_it_is_the_first_that_advise_lists(tmp_path: Path) -> None:
    given = launched_late()
    with given.open(tmp_path) as connection:
        found = [answer for answer in advice.run(connection, advice.load()) if answer.status == "found"]
        section = findings.best(connection)
        report = reports.run(connection, "overview", source="run1", best=findings.best)
    row = dict(zip((column.name for column in section.columns), section.rows[0], strict=True))
    assert (row["rule"], row["saving_ns"], row["saving_pct"]) == (
        found[0].rule,
        found[0].saving_ns,
        found[0].saving_pct,
    )
    text = table.render(report, 80, False)
    assert f"Best finding: {found[0].title}" in text and f"\ntraceview advise run1 {found[0].rule}" in text


@pytest.mark.slow
def test_a_guess_is_never_the_best_finding(tmp_path: Path) -> None:
    """Without steps, one pause of 900 us before a kernel may be a library that is loaded."""
    given = Given()
    given.kernel("k", 0, 10, launched=0)
    given.kernel("k", 910, 920, launched=905)
    with given.open(tmp_path) as connection:
        first, *_ = findings.run(connection).findings
        report = reports.run(connection, "overview", source="run1", best=findings.best)
    assert (first.rule, certainty.level(first), first.status) == ("host_bound", "low", "found")
    text = table.render(report, 80, False)
    assert "No finding is more than a guess. Of low confidence: host_bound" in text
    assert "\ntraceview advise run1" in text and "up to" not in text


def _finding(rule: str, saving_ns: int, confidence: str) -> Finding:
    query, *_ = advice.load([rule])
    texts = {name: query.extra[name] for name in ("why", "cost", "unless")}
    facts = {
        "status": "found",
        "fix": "change",
        "saving_ns": saving_ns,
        "confidence": confidence,
        "step_ns": 100,
        "of": "the step",
    }
    nothing = {column.name: None for column in fields(Finding)}
    return Finding(**{**nothing, **texts, "rule": rule, "title": query.title, "n_ranks": 1, "path": "", **facts})


def test_what_is_certain_stands_before_a_larger_guess_with_its_confidence() -> None:
    found = [
        _finding("host_bound", 93, "low: one gap is most of it"),
        _finding("small_grids", 4, "medium: the sizes are recorded"),
        _finding("tiny_copies", 3, "high for the copies"),
    ]
    assert [each.rule for each in advice.ordered(found)] == ["small_grids", "tiny_copies", "host_bound"]
    section = findings.best_of(advice.ordered(found))
    text = table.render(Report("r", "", "", (section,), ()), 100, False)
    assert "medium confidence" in text.splitlines()[0]
    assert "\nThen: Many tiny copies | high confidence\nThen: The device waits for the host to launch" in text


def test_a_first_screen_names_the_first_changes_and_counts_the_others() -> None:
    """The finding itself has them all; one change is never cut."""
    for parts, shown in (
        (["a" * 100, "b" * 100, "c" * 100], f"Change: {'a' * 100}; {'b' * 100}; 1 more:"),
        (["a" * 300, "b"], f"Change: {'a' * 300}; 1 more:"),
        (["a" * 300], f"Change: {'a' * 300}"),
        (["a", "b"], "Change: a; b"),
    ):
        found = replace(_finding("host_bound", 93, "high"), fix="; ".join(parts))
        section = findings.best_of([found])
        assert dict(zip((column.name for column in section.columns), section.rows[0], strict=True))["change"] == shown


def test_a_saving_of_one_rank_of_a_job_names_it() -> None:
    """It is a share of the step of that rank, which the first screen does not show."""
    found = replace(_finding("straggler", 5, "high"), rank=7, n_ranks=1)
    section = findings.best_of([found])
    assert dict(zip((column.name for column in section.columns), section.rows[0], strict=True))["per"] == (
        "per step of rank 7"
    )


@pytest.mark.slow
def test_nothing_found_is_not_nothing_to_tell(tmp_path: Path) -> None:
    with Given().open(tmp_path) as connection:
        (row,) = findings.best(connection).rows
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
    done = reports.for_trace(Report("r", "", "", (part,), ("see traceview report TRACE study",)), source)
    assert done.footer == (f"see traceview report {called} study",)
    assert done.sections[0].rows == ((f"traceview report {called} idle", "of TRACE itself"), (None, None))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("void at::native::reduce_kernel<512, 1>(int)", Place("pytorch", "gpu", "pytorch", "NVIDIA H200")),
        ("sgemm", Place(None, "gpu", "", "NVIDIA H200")),
        (None, Place(None, "cpu")),
    ],
)
def test_what_a_trace_ran_on_is_told_by_its_kernels(tmp_path: Path, kernel: str | None, expected: Place) -> None:
    given = Given()
    if kernel:
        given.device("NVIDIA H200", kind="gpu")
        given.kernel(kernel, 0, 10)
    with given.open(tmp_path) as connection:
        assert findings.ran_on(connection) == expected


@pytest.fixture
def capture(tmp_path: Path, remembered: None) -> Path:
    return store.convert([SAMPLE], tmp_path / "capture")


def answered(capture: Path, rules: tuple[str, ...] = (), at_least: float = 0.5) -> tuple[bool, Answers]:
    """Whether the rules had to be run, and what they say."""
    with store.open_capture(capture) as connection:
        said = findings.run(connection, advice.load(rules), {}, at_least, is_remembered=True)
        return held(connection) != set(), said


@pytest.mark.slow
def test_the_second_time_no_rule_is_run(capture: Path) -> None:
    with store.open_capture(capture) as connection:
        right = findings.run(connection)
    assert answered(capture) == (True, right)
    assert answered(capture) == (False, right)
    assert {finding.status for finding in right.findings} >= {"not found", "cannot tell"}
    assert right.place.kind == ("pytorch", "cpu") and right.footer


@pytest.mark.slow
def test_after_an_overview_no_rule_is_run_for_advice(capture: Path) -> None:
    with store.open_capture(capture) as connection:
        section = findings.best(connection, is_remembered=True)
        right = findings.run(connection)
    assert answered(capture) == (False, right)
    assert section == findings.best_of(right.findings)


def reported(capture: Path, name: str, params: dict[str, str] | None = None) -> tuple[bool, Report]:
    """Whether anything had to be made for a report, and the report."""
    if not params and (known := reports.remembered(capture, name, TRACE)):
        return False, known
    with store.open_capture(capture) as connection:
        best = functools.partial(findings.best, is_remembered=True)
        report = reports.run(connection, name, params, best=best, is_remembered=True)
        return held(connection) != set(), report


REPORTS = [
    pytest.param(name, marks=[] if name in ("overview", "critical") else pytest.mark.long) for name in reports.names()
]


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_second_report_is_the_first_and_asks_nothing(capture: Path, name: str) -> None:
    """With every value as it was, of the type that it had."""
    was_made, first = reported(capture, name)
    is_again, second = reported(capture, name)
    assert was_made and not is_again
    assert second == first and repr(second.sections) == repr(first.sections)


@pytest.mark.slow
def test_a_report_with_parameters_or_of_another_capture_is_worked_out(capture: Path, tmp_path: Path) -> None:
    reported(capture, "kernels")
    was_made, one = reported(capture, "critical", {"step": "4"})
    assert was_made and one != reported(capture, "critical")[1]
    other = Path(shutil.copytree(capture, tmp_path / "other"))
    assert reported(other, "kernels")[0]
    assert not reported(other, "kernels")[0]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["{}", "[]", '{"sections": [1]}', '{"sections": [{"columns": 1}], "footer": []}'])
def test_a_damaged_report_is_worked_out(capture: Path, damage: str) -> None:
    right = reported(capture, "kernels")[1]
    materialized.remember(materialized.place(capture), json.loads(damage), "kernels")
    assert reported(capture, "kernels")[1] == right


@pytest.mark.slow
def test_a_long_report_is_worked_out_each_time(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MOST_REMEMBERED", 3)
    reported(capture, "ops")
    assert reported(capture, "ops")[0]


@pytest.mark.slow
def test_single_rules_and_other_limits_are_worked_out_each_time(capture: Path) -> None:
    answered(capture)
    was_run, one = answered(capture, ("page_faults",))
    assert was_run and [finding.rule for finding in one.findings] == ["page_faults"]
    was_run, high = answered(capture, at_least=99.0)
    assert was_run and all(each.status != "found" or (each.saving_pct or 99) >= 99 for each in high.findings)
    assert len(answered(capture)[1].findings) == len(advice.names())


@pytest.mark.slow
def test_what_is_damaged_is_worked_out_again(capture: Path) -> None:
    _, right = answered(capture)
    for damage in ([{"rule": "x"}], {"findings": [{}]}, None, 3, {"findings": [], "footer": 3}):
        materialized.remember(materialized.place(capture), damage)
        assert answered(capture) == (True, right), damage


@pytest.mark.parametrize(
    ("text", "digits", "expected"),
    [
        ("102.0 reorders take 1,883.412 ms", 2, "102 reorders take 1.9 s"),
        ("0.996 ms of 99.96 ms", 2, "1 ms of 100 ms"),
        ("0.0421 ms in fp32, at 11.1 GB/s, 24.5 calls", 3, "42.1 us in fp32, at 11.1 GB/s, 24.5 calls"),
        ("0.000 ms; version 2.13.0 of it", 3, "0 ms; version 2.13.0 of it"),
    ],
)
def test_times_have_as_many_digits_as_are_sure(text: str, digits: int, expected: str) -> None:
    assert certainty.rounded(text, digits) == expected


@pytest.mark.slow
def test_a_finding_is_read_from_the_top_in_few_lines(tmp_path: Path) -> None:
    """The change first; evidence only where it is asked for; a busy machine before everything else."""
    given = launched_late()
    with given.open(tmp_path) as connection:
        answers = findings.run(connection)
    answers = replace(answers, footer=("Steps: 3.", "Processor: little. The machine was busy with something else: so."))
    report = findings.for_people(answers)
    text = table.render(report, width=200)
    assert report.doc.startswith("Processor: little.") and report.footer[-1] == "Steps: 3."
    whole = table.render(findings.for_people(answers, True), width=200)
    for found in (f for f in answers.findings if f.status == "found"):
        block = text.split(f"\n{found.title}\n")[1].split("\n\n")[0].splitlines()
        assert block[0].startswith("Change: ") and len(block) < 12
        assert not any(line in text for line in (*found.evidence, f"Trade-offs: {found.cost}"))
        assert f"\nWhy: {found.problem[:20]}" in text and f"Trade-offs: {found.cost}" in whole
    assert "--evidence says more" in text and "--evidence says more" not in whole


LABELS = ("Change", "Saving", "Confidence", "Where", "Why", "Do not apply if")


@pytest.mark.slow
@pytest.mark.parametrize("length", [pytest.param(0, marks=pytest.mark.long), 150, 3000])
def test_no_finding_of_any_rule_takes_more_than_twelve_lines(length: int) -> None:
    """Every change in every framework, beside what is read from the trace, short and long."""
    said = "medium: " + ("A name of some length, and then another. " * 80)[:length].strip()
    made = {field.name: "" for field in fields(Finding)} | {"status": "found", "evidence": (), "run_ns": None}
    made |= {"rank": 3, "n_ranks": 16, "of": "the step", "problem": said, "place": said, "confidence": said}
    made |= {"saving_ns": 1_234_567, "work_ns": 2_345_678, "step_ns": 10**9, "saving_pct": 12.3}
    made |= {"path": certainty.OFF, "path_slack_ns": 765_432}
    every = [
        Finding(**made | {"rule": rule.name, "title": f"{rule.name} {key}", "fix": fix} | texts)
        for rule in advice.load()
        for texts in [{name: rule.extra[name] for name in ("why", "cost", "unless")}]
        for key, fix in rule.extra["fix"].items()
    ]
    text = table.render(findings.for_people(findings.Answers((*every,), (), Place("", "cpu"))), width=100)
    for found in every:
        block = text.split(f"\n{found.title}\n")[1].split("\n\n")[0].splitlines()
        assert len(block) <= 11, found.title
        begins = [line.split(": ")[0] for line in block]
        assert [label for label in begins if label in LABELS] == list(LABELS)
        assert found.unless in " ".join(block), "whole"
        assert found.fix.split("; ")[0] in " ".join(block), "the first change is not cut"
