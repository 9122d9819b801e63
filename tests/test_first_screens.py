"""First screens of public traces: what leads is carried by the trace, and what it does not carry is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Captures
from public_traces import EACH, SAMPLES, SHARED, TRACES

from traceview.analysis import certainty, findings, reports
from traceview.analysis.model import Finding
from traceview.analysis.values import as_object
from traceview.cli import main
from traceview.experiments.tune import tuning

OPERATORS = sorted((SHARED / "traces" / "operators").glob("*"))
MI250 = "kineto/mi250-minitoy-train.json.gz"


def headline(captures: Captures, path: Path) -> dict[str, Any]:
    """Return the values of the first line of the overview."""
    report = as_object(reports.run(captures.open(path), "overview", best=findings.best))
    return dict(next(part["rows"][0] for part in report["sections"] if part["name"] == "headline"))


def found_in(captures: Captures, path: Path) -> dict[str, Finding]:
    """Return what rules find, the best one first."""
    answers = findings.run(captures.open(path)).findings
    return {found.rule: found for found in answers if found.status == "found"}


def leads(captures: Captures, path: Path) -> str | None:
    """Return the rule that the first screen names."""
    rule: str | None = findings.best(captures.open(path)).rows[0][1]
    return rule


@pytest.mark.long
@pytest.mark.shared
@EACH
def test_what_leads_is_no_guess_and_has_one_number(trace: Path, captures: Captures) -> None:
    """The first screen, the page and `advise` say the same of every finding: the smaller of its bounds."""
    connection = captures.open(trace)
    found = [answer for answer in findings.run(connection).findings if answer.status == "found"]
    section = findings.best(connection)
    row = dict(zip((column.name for column in section.columns), section.rows[0], strict=True))
    sure = [answer for answer in found if certainty.level(answer) != certainty.LOW]
    assert row["rule"] == (sure[0].rule if sure else None)
    if sure and row["saving_ns"] is not None:
        assert (row["saving_ns"], row["saving_pct"]) == (sure[0].saving_ns, sure[0].saving_pct)
        assert row["confidence"] == certainty.level(sure[0])
    for answer in found:
        if answer.path_saving_ns is not None and answer.saving_ns is not None:
            assert answer.saving_ns <= answer.path_saving_ns + 1
    assert found == sure + [answer for answer in found if answer not in sure]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("trace", [*SAMPLES, *TRACES, *OPERATORS], ids=lambda path: path.name)
def test_a_first_screen_is_one_screen(
    trace: Path, captures: Captures, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 80 columns and 40 lines, with the prompt of the next command."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["report", str(captures.folder_of(trace))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 40 and max(map(len, lines)) <= 80


def test_a_mark_without_device_work_is_no_step_and_leaves_nothing_out(shared: Path, captures: Captures) -> None:
    """The second mark, of 49 us, begins after the last kernel; the first holds them all."""
    line = headline(captures, shared / "traces" / MI250)
    assert (line["steps"], line["step_ns"]) == (1, 9_288_291)
    assert "1 without device work left out" in line["detail"]
    assert "warm-up" not in line["detail"]
    assert line["active_pct"] > 1


def test_one_long_gap_of_one_step_is_a_guess(shared: Path, captures: Captures) -> None:
    assert leads(captures, shared / "traces" / MI250) is None


@pytest.mark.long
def test_the_edges_of_one_step_are_no_finding(shared: Path, captures: Captures) -> None:
    path = shared / "traces" / "operators" / "h100-timesformer-forward.json.gz"
    assert headline(captures, path)["steps"] == 1
    assert "idle_at_step_edges" not in found_in(captures, path)


@pytest.mark.long
def test_a_device_that_idles_for_one_long_wait_is_no_problem_that_was_not_found(
    shared: Path, captures: Captures
) -> None:
    """One wait of 463 ms of 474: the host waited for whoever asks it, perhaps; that is a guess, and it is said. What
    leads is sure, though it is one percent."""
    path = shared / "traces" / "operators" / "mi300-sglang-decode.json.gz"
    assert headline(captures, path)["idle_pct"] > 97
    found = found_in(captures, path)
    assert list(found) == ["decode_batch", "host_waits"]
    assert certainty.level(found["host_waits"]) == certainty.LOW
    assert leads(captures, path) == "decode_batch"


@pytest.mark.long
def test_a_device_does_not_wait_for_launches_that_are_captured(shared: Path, captures: Captures) -> None:
    path = shared / "traces" / "operators" / "mi300-sglang-capture.json.gz"
    assert headline(captures, path)["cause"] == "graph capture"
    assert "host_bound" not in found_in(captures, path)


def test_less_than_the_threshold_of_a_recording_is_no_finding(shared: Path, captures: Captures) -> None:
    """Copies of 55 ms are 0.4 % of the recording; the allocations are two thirds of it."""
    path = shared / "traces" / "kineto" / "a100-alexnet-forward.json.gz"
    assert list(found_in(captures, path)) == ["allocations_at_start", "host_bound"]
    assert leads(captures, path) == "allocations_at_start"


@pytest.mark.long
def test_tune_rests_on_the_bounds_that_advice_shows(shared: Path, captures: Captures) -> None:
    path = shared / "traces" / "kineto" / "v100-resnet50-train-old.json.gz"
    shown = found_in(captures, path)
    made = tuning._bounds(captures.folder_of(path))
    assert made
    for bound in made.values():
        if bound.rule in shown:
            share = 0.0 if shown[bound.rule].run_ns else shown[bound.rule].saving_pct or 0.0
            assert bound.speedup == (pytest.approx(1 / (1 - min(share, 99.0) / 100)) if share else None)
    assert {rule for bound in made.values() for rule in bound.rule.split(" + ")} <= set(shown)


@pytest.mark.long
def test_communication_that_nobody_is_seen_to_wait_for_keeps_its_bound(shared: Path, captures: Captures) -> None:
    """The trace records no wait of one stream for another, so the critical path cannot say that it is not on it."""
    found = found_in(captures, shared / "traces" / "kineto" / "v100-dlrm-train-nccl.json.gz")["exposed_communication"]
    assert (found.path, round((found.saving_ns or 0) / 1e6)) == ("not known", 71)
    assert found.path_reason == "which work waits for a transfer on another stream is not recorded"
