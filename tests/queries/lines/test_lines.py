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


def test_without_frames_nothing_is_said(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::add", 0, 10)
    assert section(given.open(tmp_path), "lines/lines") == []
