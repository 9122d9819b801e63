"""Changes of a trace that mean nothing change no answer; what is lost is named, and nothing is claimed in its place."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trace_changes as changes
from asked import ONE
from trace_changes import Raw, differences, is_near

import traceview
from traceview import store
from traceview.analysis.values import as_object

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
LENET = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
REPORTS = ("overview", "conv", "idle", "critical")
PUBLIC = ("cuda-event-sync", "a100-alexnet-forward", "mi250-minitoy-train")
Answers = dict[str, Any]
_RECORDED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
TENTH_OF_A_PERCENT = 0.001
SUMMED = 1e-9
"""Share by which sums of floats may differ that are added in another order."""


def answers(trace: Raw, folder: Path, reports: tuple[str, ...] = REPORTS, advises: bool = True) -> Answers:
    """Return the answers about a trace, but for when it was recorded."""
    folder.mkdir()
    capture = store.convert([trace.write(folder / "trace.json")], folder / "capture")
    with traceview.Trace(store.open_capture(capture, ONE), "trace") as opened:
        found = {name: as_object(opened.report(name).data) for name in reports}
        if advises:
            found["advice"] = as_object(opened.advise().data)
    without_date: Answers = json.loads(_RECORDED.sub("", json.dumps(found)))
    return without_date


def changed(path: Path, folder: Path, change: Callable[[Raw], object]) -> tuple[Answers, Answers]:
    """The answers before and after."""
    before = answers(Raw(path), folder / "before")
    trace = Raw(path)
    change(trace)
    return before, answers(trace, folder / "after")


def assert_alike(before: Answers, after: Answers, share: float) -> None:
    """They are the same, but for numbers that differ by at most this share of them."""
    found = [(where, one, other) for where, one, other in differences(before, after) if not is_near(one, other, share)]
    assert found == []


def public(shared: Path, name: str) -> Path:
    return shared / "traces" / "kineto" / f"{name}.json.gz"


def all_at_once(trace: Raw) -> None:
    """Everything that means nothing."""
    for change in changes.UNNOTICED:
        change(trace)


def test_an_overview_notices_nothing_that_means_nothing(tmp_path: Path) -> None:
    sides = []
    for number, change in enumerate((lambda _: None, all_at_once)):
        trace = Raw(LENET)
        change(trace)
        sides.append(answers(trace, tmp_path / str(number), ("overview",), advises=False))
    assert_alike(*sides, SUMMED)


@pytest.mark.long
def test_no_answer_on_a_cpu_notices_anything_that_means_nothing(tmp_path: Path) -> None:
    assert_alike(*changed(LENET, tmp_path, all_at_once), SUMMED)


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLIC)
def test_no_answer_notices_anything_that_means_nothing(shared: Path, tmp_path: Path, name: str) -> None:
    assert_alike(*changed(public(shared, name), tmp_path, all_at_once), SUMMED)


@pytest.mark.long
@pytest.mark.parametrize("name", [None, *PUBLIC])
def test_another_order_of_events_changes_no_digit(shared: Path, tmp_path: Path, name: str | None) -> None:
    before, after = changed(public(shared, name) if name else LENET, tmp_path, changes.permuted)
    assert before == after


def statuses(found: Answers) -> dict[str, str]:
    """Return the status of each rule."""
    return {row["rule"]: row["status"] for row in found["advice"]["sections"][0]["rows"]}


def section(found: Answers, report: str, name: str) -> list[dict[str, Any]]:
    """The rows of a part of a report."""
    rows: list[dict[str, Any]] = next(s["rows"] for s in found[report]["sections"] if s["name"] == name)
    return rows


@pytest.mark.long
@pytest.mark.parametrize("name", ["cuda-event-sync", "mi250-minitoy-train"])
def test_kernels_that_end_a_nanosecond_later_change_no_conclusion(shared: Path, tmp_path: Path, name: str) -> None:
    before, after = changed(public(shared, name), tmp_path, changes.overlapping)
    assert statuses(before) == statuses(after)
    for part in ("headline", "idle", "categories", "finding"):
        one, other = section(before, "overview", part), section(after, "overview", part)
        assert [list(row) for row in one] == [list(row) for row in other]
        assert_alike({part: one}, {part: other}, TENTH_OF_A_PERCENT)
    assert before["overview"]["footer"] == after["overview"]["footer"]


@pytest.mark.long
def test_steps_without_their_marks_say_so(tmp_path: Path) -> None:
    before, after = changed(LENET, tmp_path, lambda trace: changes.without(trace, changes.is_mark))
    assert "ProfilerStep annotations" in str(before["overview"]["footer"])
    assert "from the ends of the optimizer" in str(after["overview"]["footer"])


def times_of_steps(path: Path) -> list[int]:
    """Durations of the steps that are counted."""
    with traceview.open(path) as trace:
        return [dur_ns for (dur_ns,) in trace.sql("SELECT dur_ns FROM step_times").fetchall()]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("kineto/v100-convnet-train-ns", True),
        ("kineto/a100-convnet-train-nccl", True),
        ("kineto/v100-resnet50-train-old", True),
        ("operators/h100-bert-forward", False),
        ("operators/h100-vit-forward", False),
        ("operators/h100-qwen-decode", False),
    ],
)
def test_steps_whose_marks_are_gone_are_as_long_or_are_none(
    shared: Path, tmp_path: Path, name: str, is_found: bool
) -> None:
    """Training has its optimizer; of one forward pass the layers never become steps."""
    path = shared / "traces" / f"{name}.json.gz"
    trace = Raw(path)
    changes.without(trace, changes.is_mark)
    after = times_of_steps(trace.write(tmp_path / "unmarked.json"))
    assert bool(after) == is_found
    if after:
        marked = Raw(path).write(tmp_path / "marked.json")
        assert statistics.median(after) == pytest.approx(statistics.median(times_of_steps(marked)), rel=0.03)


@pytest.mark.long
def test_launches_that_are_lost_are_named(shared: Path, tmp_path: Path) -> None:
    """Kernels without a launch; and no rule that could not tell before claims to know."""
    path = public(shared, "a100-alexnet-forward")
    before, after = changed(path, tmp_path, lambda trace: changes.without(trace, changes.is_launch, one_in=20))
    assert "without" not in str(before["overview"]["footer"])
    assert "kernels without a correlated launch (4)" in str(after["overview"]["footer"])
    known = statuses(after)
    assert {rule for rule, said in statuses(before).items() if said == "cannot tell" and known[rule] != said} == set()


@pytest.mark.long
def test_kernels_that_are_lost_are_named_and_nothing_else_leads(shared: Path, tmp_path: Path) -> None:
    """Launches of which no kernel is in the recording; the first screen says the same of the rest."""
    path = public(shared, "a100-alexnet-forward")
    before, after = changed(path, tmp_path, lambda trace: changes.without(trace, changes.is_kernel, one_in=20))
    assert "launches whose kernel is not in the recording (4)" in str(after["overview"]["footer"])
    one, other = section(before, "overview", "finding"), section(after, "overview", "finding")
    ordered = [("allocations_at_start", "medium"), ("host_bound", "low")]
    assert [(row["rule"], row["confidence"]) for row in one] == ordered
    assert [(row["rule"], row["confidence"]) for row in other] == [*ordered, ("host_waits", "low")]
    known = statuses(before)
    new = {rule for rule, said in statuses(after).items() if said == "found" != known[rule]}
    rows = after["advice"]["sections"][0]["rows"]
    assert all(row["confidence"].startswith("low: ") for row in rows if row["rule"] in new)
