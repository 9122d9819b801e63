"""The view `quality`: what is wrong in a recording as a whole, and silence about one that is in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import Given, rows, section

HOUR = 3_600e6


def found(given: Given, folder: Path) -> dict[str, tuple[Any, ...]]:
    return {kind: rest for kind, *rest in rows(given.open(folder), "SELECT kind, n, examples FROM quality")}  # type: ignore[misc]


def in_order() -> Given:
    given = Given()
    given.span("step", "ProfilerStep#1", 0, 100)
    given.op("aten::relu", 0, 20)
    given.kernel("relu", 30, 40, launched=5)
    return given


@pytest.mark.slow
def test_a_recording_in_order_has_no_row(tmp_path: Path) -> None:
    assert found(in_order(), tmp_path) == {}


@pytest.mark.slow
def test_a_kernel_before_its_launch(tmp_path: Path) -> None:
    given = in_order()
    given.kernel("early", 2, 3, launched=6)
    assert found(given, tmp_path) == {"kernels that start before their launch": [1, ["early"]]}


@pytest.mark.slow
def test_a_clock_that_jumps(tmp_path: Path) -> None:
    given = in_order()
    given.op("aten::add", 3 * HOUR, 3 * HOUR + 10)
    assert found(given, tmp_path) == {"jumps of the clock: more than an hour without any event": [1, ["3.0 hours"]]}


@pytest.mark.slow
def test_long_work_is_no_jump(tmp_path: Path) -> None:
    given = in_order()
    given.op("aten::train", 50, 3 * HOUR)
    given.op("aten::add", 3 * HOUR, 3 * HOUR + 10)
    assert found(given, tmp_path) == {}


@pytest.mark.slow
def test_a_recording_that_ends_before_its_kernels(tmp_path: Path) -> None:
    given = in_order()
    given.launch(10)
    given.launch(11, "cudaMemcpyAsync")
    assert found(given, tmp_path) == {"launches whose kernel is not in the recording": [1, None]}


@pytest.mark.slow
def test_what_is_captured_as_a_graph_does_not_run(tmp_path: Path) -> None:
    given = in_order()
    given.call("cudaStreamBeginCapture", 50, 51)
    given.launch(55)
    given.call("cudaStreamEndCapture", 60, 61)
    given.launch(65)
    assert found(given, tmp_path) == {"launches whose kernel is not in the recording": [1, None]}


@pytest.mark.slow
def test_a_host_that_is_ahead_at_the_end_has_lost_nothing(tmp_path: Path) -> None:
    """Only where the device works until the end of what counts, and from the last launch that it reached."""
    given = Given()
    for at in range(3):
        given.kernel("k", 100 + 40 * at, 140 + 40 * at, launched=10 * at)
    given.copy("DtoH", 225, 228, launched=15)
    given.launch(12)
    given.launch(50)
    given.launch(230)
    assert found(given, tmp_path / "ahead") == {
        "kernels without a CPU op": [3, None],
        "launches whose kernel comes after the recording": [2, None],
        "launches whose kernel is not in the recording": [1, None],
    }
    given.span("step", "ProfilerStep#1", 0, 400)
    kinds = found(given, tmp_path / "idle")
    assert kinds["launches whose kernel is not in the recording"] == [3, None]


@pytest.mark.slow
def test_the_profiler_itself_and_two_names_of_a_process(tmp_path: Path) -> None:
    given = in_order()
    for number in range(2):
        times = {"start_ns": 10, "dur_ns": 2_000_000}
        given.add("events", name="Buffer Flush", category="overhead", phase="X", pid=1, args=None, **times)
        given.add("events", name="process_name", phase="M", pid=7, args=f'{{"name":"rank {number}"}}', start_ns=0)
    assert found(given, tmp_path) == {
        "pauses of the profiler itself": [2, ["Buffer Flush: 2 in 4.000 ms"]],
        "process ids with two names": [1, ['7: {"name":"rank 0"}, {"name":"rank 1"}']],
    }


def test_pauses_of_the_profiler_are_known_by_name(tmp_path: Path) -> None:
    """nsys has a table of its own for them, and like Kineto and nvprof CUPTI's, with what the driver does."""
    given = in_order()
    for category, name in [
        ("profiler_overhead", "dlopen(libcupti.so.11.7)"),
        ("overhead", "Activity Buffer Request"),
        ("overhead", "resource overhead"),
        ("overhead", "Command Buffer Full"),
        ("overhead", "driver compiler overhead"),
        ("overhead", "Runtime Triggered Module Loading"),
    ]:
        given.add("events", name=name, category=category, phase="X", pid=1, start_ns=10, dur_ns=1_000_000)
    examples = ["Activity Buffer Request", "dlopen(libcupti.so.11.7)", "resource overhead"]
    assert found(given, tmp_path) == {
        "pauses of the profiler itself": [3, [f"{name}: 1 in 1.000 ms" for name in examples]]
    }


@pytest.mark.slow
def test_steps_are_found_or_not(tmp_path: Path) -> None:
    assert section(in_order().open(tmp_path / "a"), "quality/steps") == [
        {"rank": 0, "steps": 1, "warmup": 0, "found_by": "ProfilerStep annotations"}
    ]
    given = Given()
    given.op("aten::relu", 0, 20)
    assert section(given.open(tmp_path / "b"), "quality/steps") == [
        {"rank": 0, "steps": 0, "warmup": 0, "found_by": "none found"}
    ]


@pytest.mark.slow
def test_rows_that_overlap_on_their_stream_are_counted_on_that_device_alone(tmp_path: Path) -> None:
    given = in_order()
    given.kernel("long", 50, 60, launched=6, stream=7)
    given.kernel("beside", 55, 58, launched=7, stream=8)
    assert found(given, tmp_path / "two streams") == {}
    given.kernel("within", 55, 58, launched=8, stream=7)
    assert found(given, tmp_path / "one stream") == {"rows that overlap another on their stream": [1, None]}
