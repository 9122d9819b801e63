"""Whole networks of a log: what it prints, and nothing worked out of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import opened
from given import section

pytestmark = pytest.mark.slow

TENSORFLOW = """\
I tensorflow/core/common_runtime/gpu/gpu_init.cc:88] Found device 0 with properties:
name: GeForce GTX TITAN X
2015-11-11 02:37:12.022168: step 10, duration = 0.100
2015-11-11 02:37:21.053641: Forward across 100 steps, 0.100 +/- 0.010 sec / batch
2015-11-11 02:37:30.060886: step 10, duration = 0.424
2015-11-11 02:38:03.888784: Forward-backward across 100 steps, 0.420 +/- 0.042 sec / batch
"""


def test_a_log_without_layers_has_its_network(tmp_path: Path) -> None:
    connection = opened(tmp_path, TENSORFLOW)
    assert section(connection, "layers/averages") == []
    (row,) = section(connection, "layers/networks")
    assert (row["forward_ns"], row["backward_ns"], row["both_ns"]) == (100_000_000, None, 420_000_000)
    assert (row["sd_ns"], row["calls"]) == (42_000_000, 100)


def test_the_overview_says_them_and_names_the_report_that_has_them(tmp_path: Path) -> None:
    connection = opened(tmp_path, TENSORFLOW)
    (row,) = section(connection, "overview/averages")
    assert (row["forward_ns"], row["both_ns"], row["deviation"]) == (100_000_000, 420_000_000, " +/- 42.0 ms")
    shown = {row["command"]: row["shows"] for row in section(connection, "overview/next")}
    assert shown["traceview report TRACE layers"] == "average times of whole networks from the log"
