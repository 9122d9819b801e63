"""`caffe time`: averages per layer, runs of several networks in one file, cut and foreign logs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from asked import opened, rows

from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.ingest.layer_times import NO_TIMELINE
from traceview.readers import READERS, caffe_time

LOG = """\
I0417 00:33:35.523430 28762 caffe.cpp:212] Use GPU with device ID 0
I0417 00:33:35.743908 28762 net.cpp:42] Initializing net from parameters:
name: "small"
layer {
  name: "conv1"
  type: "Convolution"
  convolution_param {
    num_output: 64
    weight_filler {
      type: "xavier"
    }
  }
}
layer {
  name: "act"
  type: "ReLU"
}
I0417 00:33:35.887641 28762 caffe.cpp:230] Performing Backward
I0417 00:33:36.097396 28762 caffe.cpp:238] *** Benchmark begins ***
I0417 00:33:36.097409 28762 caffe.cpp:239] Testing for 2 iterations.
I0417 00:33:36.455549 28762 caffe.cpp:270] Iteration: 1 forward-backward time: 32.526 ms.
I0417 00:33:36.778002 28762 caffe.cpp:270] Iteration: 2 forward-backward time: 32.414 ms.
I0417 00:33:39.381456 28762 caffe.cpp:273] Average time per layer:
I0417 00:33:39.381471 28762 caffe.cpp:276]      conv1\tforward: 16.0281 ms.
I0417 00:33:39.381476 28762 caffe.cpp:279]      conv1\tbackward: 42.8958 ms.
I0417 00:33:39.381479 28762 caffe.cpp:276]        act\tforward: 1.5e-05 ms.
I0417 00:33:39.381491 28762 caffe.cpp:279]        act\tbackward: 0.000512 ms.
I0417 00:33:39.381572 28762 caffe.cpp:284] Average Forward pass: 16.175 ms.
I0417 00:33:39.381577 28762 caffe.cpp:286] Average Backward pass: 43.615 ms.
I0417 00:33:39.381582 28762 caffe.cpp:288] Average Forward-Backward: 59.849 ms.
I0417 00:33:39.381587 28762 caffe.cpp:290] Total Time: 119.69 ms.
"""


def test_layers_and_the_whole_network(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG)
    assert rows(found, "SELECT network, layer, type, kind, direction, dur_ns, n FROM layer_times ORDER BY id") == [
        ("small", "conv1", "Convolution", "conv", "forward", 16_028_100, 2),
        ("small", "conv1", "Convolution", "conv", "backward", 42_895_800, 2),
        ("small", "act", "ReLU", "activation", "forward", 15, 2),
        ("small", "act", "ReLU", "activation", "backward", 512, 2),
        ("small", None, None, None, "forward", 16_175_000, 2),
        ("small", None, None, None, "backward", 43_615_000, 2),
        ("small", None, None, None, "forward_backward", 59_849_000, 2),
    ]
    steps = "SELECT CAST(args->>'$.ns' AS BIGINT) FROM events WHERE category = 'iteration' ORDER BY id"
    assert rows(found, steps) == [(32_526_000,), (32_414_000,)]
    assert rows(found, "SELECT format, framework, n_events, n_kept, problems FROM captures") == [
        ("caffe_time", "Caffe", 9, 9, None)
    ]


def test_nothing_gets_a_place_in_time(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG)
    assert rows(found, "SELECT count(*) FROM events WHERE start_ns IS NOT NULL OR dur_ns IS NOT NULL") == [(0,)]
    assert rows(found, "SELECT count(*) FROM activities") == [(0,)]
    assert rows(found, "SELECT clock, warnings FROM captures") == [(NO_TIMELINE, None)]


def test_runs_of_several_networks(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG + LOG.replace("small", "large").replace("Testing for 2", "Testing for 5"))
    assert rows(found, "SELECT run, network, n, count(*) FROM layer_times GROUP BY ALL ORDER BY run") == [
        (1, "small", 2, 7),
        (2, "large", 5, 7),
    ]


@pytest.mark.long
@pytest.mark.parametrize("end", [*range(700, len(LOG), 97), len(LOG) - 1])
def test_cut_at_any_byte(tmp_path: Path, end: int) -> None:
    whole = opened(tmp_path, LOG, "whole")
    try:
        found = opened(tmp_path, LOG[:end], "cut")
    except InputError as error:
        assert "forward-backward time" not in LOG[:end] or "no trace" in str(error)
        return
    stored = rows(found, "SELECT name, args->>'$.ns' FROM events ORDER BY id")
    assert stored[:-1] == rows(whole, "SELECT name, args->>'$.ns' FROM events ORDER BY id")[: len(stored) - 1]
    assert LOG[:end].endswith("\n") or rows(found, "SELECT kind FROM quality") != []


def test_times_that_are_none_are_counted(tmp_path: Path) -> None:
    bad = LOG.replace("16.0281", "nan").replace("42.8958", "1e999999999").replace("ReLU", "Re\x00LU")
    bad = bad.replace("0.000512", "-0.5")
    found = opened(tmp_path, bad.encode() + b"\xff\xfe\n")
    assert rows(found, "SELECT n_events, n_kept, n_dropped FROM captures") == [(9, 6, 3)]
    assert rows(found, "SELECT kind, n FROM quality") == [("times that cannot be read", 3)]


@pytest.mark.parametrize(
    ("param", "output", "shape"),
    [
        (("pad: 0", "pad: 3", "kernel_size: 1", "kernel_size: 7", "stride: 1"), "17 17", "k64 1x7 s1 p0x3"),
        (("kernel_h: 7", "kernel_w: 1", "pad_h: 3", "pad_w: 0"), "17 17", "k64 7x1 p3x0"),
        (("kernel_size: 3", "pad_h: 1", "pad_w: 1", "stride_h: 2", "stride_w: 2"), "9 9", "k64 3x3 s2 p1"),
        (("pad: 2", "kernel_size: 3", "group: 2", "dilation: 2"), "17 17", "k64 3x3 p2 d2 g2"),
        # What the log does not tell, the output does.
        (("kernel_size: 3", "something: 1"), "17 17", None),
    ],
)
def test_a_convolution_has_the_shape_that_gives_its_output(
    tmp_path: Path, param: tuple[str, ...], output: str, shape: str | None
) -> None:
    at = "I0417 00:33:35.8 28762 net.cpp:91]"
    flow = f"""force_backward: true
{at} input -> data
{at} Setting up input
{at} Top shape: 8 64 17 17 (147968)
{at} conv1 <- data
{at} conv1 -> conv1
{at} Setting up conv1
{at} Top shape: 8 64 {output} (1)
"""
    log = LOG.replace("num_output: 64\n", "\n    ".join(("num_output: 64", *param)) + "\n")
    found = opened(tmp_path, log.replace("I0417 00:33:35.887641", f"{flow}I0417 00:33:35.887641"))
    expected = [(f"8x64x17x17 {shape}" if shape else None,)]
    assert rows(found, "SELECT DISTINCT shape FROM layer_times WHERE layer = 'conv1'") == expected


def test_it_is_known_by_content_alone(tmp_path: Path) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(LOG)
    assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [caffe_time]
    unknown.write_text("I0417 00:33:35.523430 28762 caffe.cpp:212] Use GPU with device ID 0\nStarting Optimization\n")
    assert not caffe_time.sniff(peek(unknown))


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("commit", ["de7cfc3", "6f718db"])
def test_public_logs_agree_with_their_table(shared: Path, captures: Any, commit: str) -> None:
    """Every layer that the table lists, to the last digit of the log (`std::to_string` prints six)."""
    found = captures.open(shared / f"studies/convnet-benchmarks_{commit}_caffe_output_alexnet.log")
    layers = rows(found, "SELECT layer, direction, dur_ns FROM layer_times WHERE layer IS NOT NULL")
    stored = {(layer, direction): ns for layer, direction, ns in layers}
    with (shared / "studies/caffe_alexnet_owt_bs128_titanx_layerwise.csv").open(encoding="utf-8") as file:
        listed = [row for row in csv.DictReader(file) if row["commit"] == commit]
    assert len(listed) == len(stored) > 20
    for row in listed:
        assert stored[row["layer"], row["dir"]] == pytest.approx(float(row["ms"]) * 1e6, abs=0.51)
