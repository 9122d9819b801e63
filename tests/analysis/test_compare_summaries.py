"""Two summaries that nvprof printed, side by side: the form in which NVIDIA compares the copies of two frameworks."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import opened
from compared import table

from traceview.analysis import compare
from traceview.analysis.compare import Run

pytestmark = pytest.mark.slow

HEAD = "==1== NVPROF is profiling process 1, command: {}\n==1== Profiling application: {}\n==1== Profiling result:\n"
TENSORFLOW = """\
Time(%)      Time     Calls       Avg       Min       Max  Name
 48.27%  221.54ms    107912  2.0520us     896ns  50.000us  [CUDA memcpy HtoD]
 32.98%  151.34ms    107883  1.4020us     864ns  40.000us  [CUDA memcpy DtoH]
 18.74%  86.024ms     64615  1.3310us     864ns  30.000us  [CUDA memcpy DtoD]
"""
CAFFE = """\
Time(%)      Time     Calls       Avg       Min       Max  Name
 75.84%  15.045ms       379  39.696us     896ns  500.00us  [CUDA memcpy HtoD]
 11.51%  2.2830ms       571  3.9980us     864ns  40.000us  [CUDA memcpy DtoH]
 12.65%  2.5100ms       450  5.5770us     864ns  30.000us  [CUDA memcpy DtoD]
"""


def printed(folder: Path, command: str, text: str) -> Run:
    folder.mkdir()
    connection = opened(folder, HEAD.format(command, command) + text)
    return compare.measure(connection, command, None, True)


def test_copies_of_two_printed_summaries_stand_side_by_side(tmp_path: Path) -> None:
    """285, 189 and 144 times the calls, 14.7, 66.3 and 34.3 times the time."""
    runs = [printed(tmp_path / "a", "caffe train", CAFFE), printed(tmp_path / "b", "python cifar10.py", TENSORFLOW)]
    report = compare.compare(runs)
    rows = {row["direction"]: row for row in table(report, "copies")}
    assert {name: round(row["calls_ratio"]) for name, row in rows.items()} == {"HtoD": 285, "DtoH": 189, "DtoD": 144}
    assert {name: round(row["ratio"], 1) for name, row in rows.items()} == {"HtoD": 14.7, "DtoH": 66.3, "DtoD": 34.3}
    # A summary of calls prints no bytes, and none are made up.
    assert {row["size_bytes"] for row in rows.values()} == {None}
    assert [row["name"] for row in table(report, "names")] == [f"[CUDA memcpy {name}]" for name in rows]
    assert table(report, "ranking")[1]["place"] is None
