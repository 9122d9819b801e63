"""Average times of a framework's own log, by layer and kind."""

from __future__ import annotations

import json
from pathlib import Path

from given import Given, pick, rows, section


def average(
    given: Given, layer: str | None, type_: str, direction: str | None, ns: int, run: int = 1, **more: str | None
) -> None:
    args = {"source": "log", "run": run, "layer": layer, "type": type_, "direction": direction, "ns": ns, "n": 4}
    args |= more
    given.add("events", category="layer_time", name=layer, args=json.dumps(args))


def test_a_layers_nodes_of_a_type_are_added_up_and_runs_kept_apart(tmp_path: Path) -> None:
    given = Given()
    average(given, "conv1", "Convolution", "forward", 100)
    average(given, "conv1", "Convolution", "backward_data", 200)
    average(given, "conv1", "Convolution", "backward_filter", 300)
    average(given, "conv1", "Plus", "forward", 150)
    average(given, "conv1", "Plus", "forward", 250)
    average(given, "conv1", "Convolution", "forward_backward", 50, run=2)
    average(given, None, "network", "forward", 9_999)
    found = section(given.open(tmp_path), "layers/averages")
    assert pick(found, "run", "layer", "kind", "calls", "forward_ns", "backward_ns", "both_ns", "share_pct") == [
        (1, "conv1", "conv", 4, 100, 500, None, 60.0),
        (1, "conv1", "bias", 4, 400, None, None, 40.0),
        (2, "conv1", "conv", 4, None, None, 50, 100.0),
    ]


def test_the_kind_of_a_layer_by_its_type_in_each_framework(tmp_path: Path) -> None:
    kinds = {
        "Times": "gemm", "TransposeTimes": "gemm", "ElementTimes": "elementwise",
        "MatMul": "gemm", "LayerNormalization": "layer_norm", "GroupNorm": "layer_norm",
        "LRN": "lrn", "SpatialCrossMapLRN": "lrn", "BatchNormalization": "batch_norm", "Normalize": "other",
    }  # fmt: skip
    given = Given()
    for type_ in kinds:
        average(given, f"{type_} 1", type_, "forward", 100)
    assert dict(rows(given.open(tmp_path), "SELECT type, kind FROM layer_times")) == kinds


def test_sums_that_a_log_gives_beside_their_parts_count_once(tmp_path: Path) -> None:
    """As Torch 7's benchmark prints them."""
    given = Given()
    times = {"forward": 100, "backward_data": 200, "backward_filter": 300, "backward": 500, "forward_backward": 600}
    for direction, ns in times.items():
        average(given, "conv1", "SpatialConvolution", direction, ns)
    average(given, "relu1", "ReLU", "forward", 200)
    found = section(given.open(tmp_path), "layers/averages")
    assert pick(found, "layer", "forward_ns", "backward_ns", "both_ns", "share_pct") == [
        ("conv1", 100, 500, 600, 75.0),
        ("relu1", 200, None, None, 25.0),
    ]


def test_a_pass_that_the_log_does_not_tell_is_no_forward_pass(tmp_path: Path) -> None:
    """As Theano writes what is neither a convolution nor named a gradient: tanh's gradient is such a one."""
    given = Given()
    average(given, "CorrMM{valid}(x)", "CorrMM{valid}", "forward", 300)
    average(given, "Elemwise{Composite{(i0 * (i1 - sqr(tanh(i2))))}}(y)", "Elemwise", None, 100)
    found = section(given.open(tmp_path), "layers/averages")
    assert pick(found, "forward_ns", "backward_ns", "both_ns", "untold_ns", "share_pct") == [
        (300, None, None, None, 75.0),
        (None, None, None, 100, 25.0),
    ]


def test_implementations_of_one_layer_are_no_shares_of_a_run(tmp_path: Path) -> None:
    given = Given()
    for impl, ns in (("cufft", 300), ("fbfft", 100)):
        average(given, "128x64x192", "SpatialConvolutionCuFFT", "forward", ns, impl=impl)
    average(given, "conv1", "Convolution", "forward", 50, run=2, impl="jit")
    found = section(given.open(tmp_path), "layers/averages")
    assert pick(found, "run", "impl", "forward_ns", "share_pct") == [
        (1, "cufft", 300, None),
        (1, "fbfft", 100, None),
        (2, "jit", 50, 100.0),
    ]


def test_layers_of_several_networks_are_not_divided_by_their_number(tmp_path: Path) -> None:
    """Two functions of a program, of which one ran twice; the second time the log is cut off."""
    given = Given()
    for run, network, times in ((1, "train", (20, 10, 1)), (2, "test", (10,)), (3, "train", (40,))):
        names = ("conv1", "conv2", "loss") if network == "train" else ("conv2",)
        for name, ns in zip(names, times, strict=False):
            average(given, name, name, "forward", ns, run, network=network)
    connection = given.open(tmp_path)
    found = section(connection, "overview/convolutions")
    assert pick(found, "layer", "total_ns", "share_pct") == [
        ("train conv1", 30, 60.0), ("train conv2", 10, 20.0), ("test conv2", 10, 20.0),
    ]  # fmt: skip
    assert pick(section(connection, "overview/categories"), "category", "busy_ns") == [
        ("conv", 50),
        ("softmax_loss", 1),
    ]


def test_events_of_a_trace_are_no_averages_and_no_totals_of_a_log(tmp_path: Path) -> None:
    given = Given()
    for category in ("layer_time", "summary"):
        args = json.dumps({"layer": "x", "ns": "many", "calls": "many"})
        given.add("events", category=category, phase="X", name="x", start_ns=0, dur_ns=10, args=args)
        given.add("events", category=category, name="damaged", args=args)
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT name, calls FROM summaries") == [("damaged", None)]
        assert rows(connection, "SELECT layer, dur_ns FROM layer_times") == [("x", None)]
