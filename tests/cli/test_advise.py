"""`traceview advise`: every format, exit codes, thresholds, hostile names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cases import first

from traceview import cli
from traceview.analysis import advice

# In each step of 900 us of the small trace a pageable copy of 4096 bytes takes 20 us.
COPIES = "pageable_copies"


def run(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> str:
    assert cli.main(["advise", *map(str, args)]) == code
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_finding_is_told_with_bound_share_and_fix(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace, COPIES)
    line = next(line for line in text.splitlines() if line.startswith(COPIES)).split()
    assert line[-5:] == ["20.00", "2.2", "the", "step", "high"], "all of it on the critical path"
    assert "in percent of the step time (0.900 ms)" in text
    assert "Change: DataLoader(..., pin_memory=True)" in text or "Change: allocate the host buffers" in text
    assert "HtoD of 4096 bytes" not in text
    assert "HtoD of 4096 bytes" in run(capsys, trace, COPIES, "--evidence")


def test_json_holds_every_answer_in_the_same_columns(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (section,) = json.loads(run(capsys, trace, "--format", "json"))["sections"]
    rows = {row["rule"]: row for row in section["rows"]}
    assert set(rows) == set(advice.names())
    found = rows[COPIES]
    assert (found["status"], found["saving_ns"], found["step_ns"]) == ("found", 20_000, 900_000)
    assert isinstance(found["evidence"], list)
    unknown = rows["layout_in_convolutions"]
    assert (unknown["status"], unknown["reason"]) == (
        "cannot tell",
        "no operator or kernel of a convolution was recognised in this trace.",
    )
    assert unknown["saving_ns"] is None


@pytest.mark.parametrize("form", first(2, ["table", "csv", "markdown", "json"]))
def test_every_format_shows_hostile_names_only(trace: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert "\x1b" not in run(capsys, trace, "--evidence", "--format", form, "--at-least", "0%")


def test_what_cannot_be_told_is_one_line_by_what_to_record(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace)
    (line,) = text.replace("\n", " ").split("Not enough data ")[1:]
    assert re.match(r"for \d+ rules. To record: .* \(for \d+ rules\); .* \(memory_\w+, memory_near_limit\)", line)
    assert "--all says why." in line
    assert "no operator or kernel of a convolution was recognised in this trace" not in text
    text = run(capsys, trace, "--all")
    assert "no operator or kernel of a convolution was recognised in this trace" in text
    assert "--all says why" not in text


@pytest.mark.parametrize(("limit", "code"), [("2%", 1), ("2.3", 0)])
def test_fail_over(trace: Path, capsys: pytest.CaptureFixture[str], limit: str, code: int) -> None:
    assert cli.main(["advise", str(trace), COPIES, "--fail-over", limit]) == code
    errors = capsys.readouterr().err
    assert errors == ("traceview: pageable_copies could save 2.2 % of the step\n" if code else "")


def test_a_threshold_is_set(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Checked, no problem: pageable_copies." in run(capsys, trace, COPIES, "--set", "pageable_from_bytes=4097")
    run(capsys, trace, "--set", "no_such=1", code=2)
    run(capsys, trace, "no_such_rule", code=2)


def test_the_sql_of_a_rule_is_printed(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace, COPIES, "--show-sql")
    assert text.startswith("-- queries/advice/pageable_copies.sql: ")
    assert "-- $pageable_from_bytes = 4096 (BIGINT: only copies of at least this size)" in text


@pytest.mark.slow
def test_the_printed_sql_gives_the_numbers_again(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (section,) = json.loads(run(capsys, trace, "--format", "json"))["sections"]
    found = [row for row in section["rows"] if row["status"] == "found"]
    assert COPIES in [row["rule"] for row in found]
    for row in found:
        query = tmp_path / "rule.sql"
        query.write_text(run(capsys, trace, row["rule"], "--show-sql"))
        assert cli.main(["sql", str(trace), "-f", str(query), "--format", "json"]) == 0
        again = json.loads(capsys.readouterr().out)
        names = ("rank", "problem", "saving_ns", "step_ns", "run_ns", "saving_pct", "confidence", "evidence")
        assert {name: row[name] for name in names} in [{name: line[name] for name in names} for line in again]


def test_a_threshold_is_part_of_the_printed_sql(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = tmp_path / "rule.sql"
    query.write_text(run(capsys, trace, COPIES, "--set", "pageable_from_bytes=4097", "--show-sql"))
    assert "CAST('4097' AS BIGINT)" in query.read_text()
    assert cli.main(["sql", str(trace), "-f", str(query), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.slow
def test_json_is_as_documented(trace: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (root / "docs" / "advice.md").read_text().split("## `--format json`")[1]
    documented = re.findall(r"^\| `(\w+)` \| ([a-z ]+) \| ", page, re.MULTILINE)
    types: dict[str, tuple[type, ...]] = {
        "text": (str,),
        "whole number": (int,),
        "whole number or null": (int, type(None)),
        "number or null": (int, float, type(None)),
        "array of text": (list,),
    }
    (section,) = json.loads(run(capsys, trace, "--format", "json"))["sections"]
    assert section["name"] == "answers"
    for row in section["rows"]:
        assert list(row) == [name for name, _ in documented]
        for name, meaning in documented:
            assert isinstance(row[name], types[meaning]), (name, row[name])
        assert all(isinstance(line, str) for line in row["evidence"])


def test_what_if_predicts_the_step_without_some_costs(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (section,) = json.loads(run(capsys, trace, "--what-if", "copies", "--format", "json"))["sections"]
    assert section["rows"][0] == {
        "rank": 0,
        "without": "copies",
        "removed_ns": 20_000,
        "removed_pct": pytest.approx(100 * 20 / 900),
        "step_ns": 900_000,
        "predicted_ns": 880_000,
        "speedup": pytest.approx(900 / 880),
    }
    assert "No all-reduce whose bytes and group are recorded (" in run(capsys, trace, "--what-if", "all")
    assert "FROM removable" in run(capsys, trace, "--what-if", "copies", "--show-sql")


@pytest.mark.long
def test_the_printed_sql_of_a_what_if_gives_its_numbers_again(
    root: Path, captures: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = root / "samples" / "kineto" / "torch-2.13.0-lenet-ddp-cpu"
    words = (sample, "--what-if", "communication,layout")
    sections = json.loads(run(capsys, *words, "--format", "json"))["sections"]
    connection = captures.open(sample)
    printed = connection.extract_statements(run(capsys, *words, "--show-sql"))
    assert [section["name"] for section in sections] == ["prediction", "communication"]
    for section, statement in zip(sections, printed, strict=True):
        again = connection.execute(statement).fetchall()
        assert len(section["rows"]) == len(again) > 0
        for row, line in zip(section["rows"], again, strict=True):
            # Sums of fractions may end in another digit from run to run.
            assert list(row.values()) == [pytest.approx(value) for value in line]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--what-if", "coffee"),
            "there is no cost 'coffee' for --what-if. The costs are all, or: "
            "layout: all that only changes the layout of tensors, transposes that the model needs included; ",
        ),
        ((COPIES, "--what-if", "copies"), "--what-if cannot be combined with rules, --evidence or --fail-over."),
    ],
)
def test_a_what_if_that_makes_no_sense(
    trace: Path, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["advise", str(trace), *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"traceview: {told}")


def test_a_percentage_that_is_none(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["advise", str(trace), "--fail-over", "much"])
    assert "is not a percentage" in capsys.readouterr().err
