"""Time by line: of the device, of the host, and of the device while it waited."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, pick, section


def test_a_line_has_the_time_of_what_it_launched_and_the_idle_time_it_caused(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.span("step", "ProfilerStep#1", 0, 200)
    given.span("python", "train.py(10): main", 0, 200)
    given.span("python", "net.py(5): forward", 10, 60)
    given.op("aten::mm", 20, 30)
    given.kernel("gemm", 25, 75, launched=22)
    given.span("python", "data.py(7): load", 80, 150)
    given.op("aten::add", 160, 170)
    given.kernel("add", 165, 185, launched=162)
    found = section(given.open(tmp_path), "lines/lines")
    assert pick(found, "line", "device_ns", "calls", "host_ns", "idle_ns") == [
        ("net.py(5): forward", 50_000, 1.0, 50_000, 15_000),
        ("train.py(10): main", 20_000, 1.0, 80_000, 45_000),
        ("data.py(7): load", 0, 0.0, 70_000, 70_000),
    ]
    assert [row["share_pct"] for row in found] == pytest.approx([500 / 7, 200 / 7, 0])


def test_a_line_that_does_a_whole_step_has_its_passes_apart(tmp_path: Path) -> None:
    given = Given()
    given.span("python", "train.py(28): main", 0, 200)
    given.op("aten::mm", 10, 40)
    given.op("aten::randn", 50, 55)
    given.span("phase", "backward", 60, 110)
    given.op("aten::mm", 60, 110)
    given.span("phase", "optimizer", 120, 190)
    given.op("aten::lerp_", 120, 190)
    found = section(given.open(tmp_path), "lines/lines")
    assert pick(found, "device_ns", "forward_ns", "backward_ns", "other_ns") == [(155_000, 30_000, 50_000, 75_000)]


def test_without_frames_nothing_is_said(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::add", 0, 10)
    assert section(given.open(tmp_path), "lines/lines") == []


def test_what_a_compiler_made_has_the_line_of_the_program_that_is_innermost_in_its_stack(tmp_path: Path) -> None:
    given = Given()
    for at, stack in ((0, "net.py(12): "), (20, "jax/_src/api.py(5): f;net.py(7): loss;train.py(3): main"), (40, None)):
        given.add("ops", name="dot", pid=1, tid=1, start_ns=1000 * at, dur_ns=10_000, call_stack=stack)
    found = section(given.open(tmp_path), "lines/lines")
    assert pick(found, "line", "device_ns") == [
        ("(no line)", 10_000),
        ("net.py(12)", 10_000),
        ("net.py(7): loss", 10_000),
    ]


def test_generated_code_is_named_by_its_file_and_kernel(tmp_path: Path) -> None:
    given = Given()
    given.add("ops", name="cpp_fused_add_0", pid=1, tid=1, start_ns=0, dur_ns=10_000, code_file="/tmp/ab/cab.py")
    assert pick(section(given.open(tmp_path), "lines/lines"), "line", "device_ns") == [
        ("/tmp/ab/cab.py: cpp_fused_add_0", 10_000)
    ]


@pytest.mark.slow
def test_lines_of_a_program_that_xla_compiled(captures, shared: Path) -> None:
    found = section(captures.open(shared / "traces/xplane/mi300-jax-conv.xplane.pb.gz"), "lines/lines")
    assert found[0]["line"] == "/workspace/traces/generate_conv_trace.py(23): forward_3d_conv"
    assert found[0]["share_pct"] > 95
