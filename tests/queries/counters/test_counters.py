"""Counters of the hardware: what nvprof prints of each kernel, and FLOP as counted beside those of the model."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapes
from asked import opened, rows
from given import Given, conv, pick, section

from traceview.cli import main

TEXT = """\
==6742== NVPROF is profiling process 6742, command: ./train
==6742== Some kernel(s) will be replayed on device 0 in order to collect all events/metrics.
==6742== Profiling result:
==6742== Metric result:
Invocations                               Metric Name                            Metric Description         Min         Max         Avg
Device "GeForce GTX 1070 (0)"
    Kernel: void rows<unsigned char, float>(unsigned char*, int)
          1                      dram_read_throughput                 Device Memory Read Throughput  2.0000GB/s  4.0000GB/s  3.0000GB/s
          2                        achieved_occupancy                            Achieved Occupancy    0.784774    0.784774    0.784774
          2                             flop_count_sp   Floating Point Operations(Single Precision)        1000        3000        2000
          2                           dram_read_bytes        Total bytes read from DRAM to L2 cache         100         100         100
          2                          dram_write_bytes     Total bytes written from L2 cache to DRAM         300         300         300
    Kernel: columns(float*)
          1                         shared_efficiency                      Shared Memory Efficiency      25.00%      25.00%      25.00%
          1                          dram_utilization                     Device Memory Utilization     Low (2)     Low (2)     Low (2)
          1                      dram_read_throughput                 Device Memory Read Throughput  <OVERFLOW>  <OVERFLOW>  <OVERFLOW>
==6742== Event result:
Invocations                                Event Name         Min         Max         Avg       Total
Device "GeForce GTX 1070 (0)"
    Kernel: columns(float*)
          1                            elapsed_cycles      541242      541242      541242      541242
==6742== API calls:
Time(%)      Time     Calls       Avg       Min       Max  Name
 60.00%  300.00ms         3  100.00ms  90.00ms  110.00ms  cudaFree
"""
CSV = """\
==20858== NVPROF is profiling process 20858, command: ./test
==20858== Profiling result:
==20858== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","void k<int=3>(float*, int)",3,"flop_count_sp","Floating Point Operations(Single Precision)",3611549214,3611549214,3611549214
"Tesla K20c (0)","void k<int=3>(float*, int)",3,"dram_read_transactions","Device Memory Read Transactions",10,30,20
"Tesla K20c (0)","void k<int=3>(float*, int)",3,"dram_write_transactions","Device Memory Write Transactions",5,5,5
"Tesla K20c (1)","void k<int=3>(float*, int)",3,"gld_efficiency","Global Memory Load Efficiency",50.000000%,50.000000%,50.000000%
"""
COUNTED = "SELECT device, kernel, counter, calls, least, most, mean, unit FROM kernel_counters ORDER BY ALL"


def test_counters_printed_as_text_belong_to_the_kernel_above_them(tmp_path: Path) -> None:
    with opened(tmp_path, TEXT) as capture:
        first, second = "void rows<unsigned char, float>(unsigned char*, int)", "columns(float*)"
        assert rows(capture, COUNTED) == [
            (0, second, "dram_utilization", 1, 2, 2, 2, "level"),
            (0, second, "elapsed_cycles", 1, 541_242, 541_242, 541_242, None),
            (0, second, "shared_efficiency", 1, 25, 25, 25, "%"),
            (0, first, "achieved_occupancy", 2, 0.784774, 0.784774, 0.784774, None),
            (0, first, "dram_read_bytes", 2, 100, 100, 100, None),
            (0, first, "dram_read_throughput", 1, 2 * 1024**3, 4 * 1024**3, 3 * 1024**3, "B/s"),
            (0, first, "dram_write_bytes", 2, 300, 300, 300, None),
            (0, first, "flop_count_sp", 2, 1000, 3000, 2000, None),
        ]
        assert rows(capture, "SELECT name, calls FROM summaries") == [("cudaFree", 3)]
        assert rows(capture, "SELECT n_events, n_kept, n_dropped FROM captures") == [(10, 9, 1)], (
            "an overflow is no count"
        )
        found = pick(section(capture, "counters/kernels"), "kernel", "flop", "dram_bytes", "flop_per_byte", "others")
        assert found == [(first, 2000, 400, 5, 1), (second, None, None, None, 3)]
        assert section(capture, "counters/kernels")[0]["occupancy_pct"] == pytest.approx(78.4774)


def test_counters_printed_as_csv_and_a_transaction_of_32_bytes(tmp_path: Path) -> None:
    with opened(tmp_path, CSV) as capture:
        assert pick(section(capture, "counters/kernels"), "kernel", "calls", "flop", "dram_bytes", "others") == [
            ("void k<int=3>(float*, int)", 3, 3_611_549_214, 32 * 25, 1)
        ]
        assert [row[0] for row in rows(capture, COUNTED)] == [0, 0, 0, 1]


@pytest.mark.long
@pytest.mark.parametrize("end", range(1000, len(TEXT), 173))
def test_a_log_cut_anywhere_keeps_its_account(tmp_path: Path, end: int) -> None:
    with opened(tmp_path, TEXT[:end]) as capture:
        assert rows(capture, "SELECT n_events = n_kept + coalesce(n_dropped, 0) FROM captures") == [(True,)]


def counter(given: Given, kernel: str, mean: float, least: float | None = None) -> None:
    told = {
        "counter": "flop_count_sp",
        "calls": 4,
        "least": mean if least is None else least,
        "most": mean,
        "mean": mean,
    }
    given.add("events", start_ns=None, dur_ns=None, category="kernel counter", name=kernel, args=json.dumps(told))


@pytest.mark.slow
def test_flop_of_a_layer_as_counted_stand_beside_those_of_the_model(tmp_path: Path) -> None:
    given, flop = Given(), 2 * 8 * 64 * 64 * 9 * 28 * 28
    fused, parts = shapes.KERNELS["IMPLICIT_PRECOMP_GEMM"][0], shapes.KERNELS["WINOGRAD_NONFUSED"]
    conv(given, 1, (8, 64, 28, 28), (64, 64, 3, 3), padding=1)
    given.kernel(fused, 100, 200, launched=3)
    conv(given, 301, (8, 64, 28, 28), (64, 64, 3, 3), padding=1)
    for number, kernel in enumerate(parts):
        given.kernel(kernel, 400 + 50 * number, 440 + 50 * number, launched=303 + number)
    counter(given, fused, 1.02 * flop, flop)
    for kernel, share in zip(parts, (0.05, 0.25, 0.1), strict=True):
        counter(given, kernel, share * flop)
    with given.open(tmp_path / "all") as capture:
        found = section(capture, "counters/convolutions")
    assert pick(found, "direction", "algorithm", "direct_flop", "varies") == [
        ("fprop", "implicit_precomp_gemm", flop, True),
        ("fprop", "winograd_nonfused", flop, False),
    ]
    assert [row["counted_pct"] for row in found] == pytest.approx([102, 40])
    assert found[0]["model_flop"] == flop and found[1]["model_flop"] < flop


@pytest.mark.slow
def test_a_call_of_which_one_kernel_was_not_counted_has_no_sum(tmp_path: Path) -> None:
    given, parts = Given(), shapes.KERNELS["WINOGRAD_NONFUSED"]
    conv(given, 301, (8, 64, 28, 28), (64, 64, 3, 3), padding=1)
    for number, kernel in enumerate(parts):
        given.kernel(kernel, 400 + 50 * number, 440 + 50 * number, launched=303 + number)
    counter(given, parts[1], 1e9)
    with given.open(tmp_path) as capture:
        assert section(capture, "counters/convolutions") == []


@pytest.mark.slow
def test_layers_that_run_the_same_kernel_are_one_row_of_means(tmp_path: Path) -> None:
    """A counter does not tell which layer its run was of: beside it stands the mean of both layers, not of one."""
    given, kernel = Given(), shapes.KERNELS["IMPLICIT_PRECOMP_GEMM"][0]
    flop = [2 * 8 * 64 * filters * 9 * 28 * 28 for filters in (64, 128)]
    for number, filters in enumerate((64, 128)):
        conv(given, 1 + 300 * number, (8, 64, 28, 28), (filters, 64, 3, 3), padding=1)
        given.kernel(kernel, 100 + 300 * number, 200 + 300 * number, launched=3 + 300 * number)
    counter(given, kernel, sum(flop) / 2, flop[0])
    with given.open(tmp_path) as capture:
        (row,) = section(capture, "counters/convolutions")
    assert (row["calls"], row["direct_flop"], row["varies"]) == (2, sum(flop) / 2, True)
    assert row["counted_pct"] == pytest.approx(100) and row["layers"] == "(no layer)"


@pytest.mark.slow
def test_the_overview_names_the_report_that_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    log.write_text(TEXT)
    assert main(["report", str(log)]) == 0
    assert "counters" in capsys.readouterr().out
    assert main(["report", str(log), "counters"]) == 0
    printed = capsys.readouterr().out
    assert "Counters of the hardware" in printed and "rows" in printed
