"""TensorFlow 1 timelines: every kernel once, copies, operators, layers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows
from cases import first

import traceview
from traceview import store
from traceview.decode.files import peek
from traceview.readers import READERS

SAMPLE = "samples/tf_timeline/tensorflow-1.15.5-lenet-collected-cpu.json.gz"


@pytest.mark.long
def test_a_collected_run_has_steps_and_every_operator_once(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(4,), (5,)]
    found = rows(connection, "SELECT name, layer, count(*) FROM ops WHERE category = 'conv' GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("conv1/BiasAdd:_FusedConv2D", "conv1", 2),
        ("conv2/BiasAdd:_FusedConv2D", "conv2", 2),
        ("gradients/conv1/Conv2D_grad/Conv2DBackpropFilter:Conv2DBackpropFilter", "conv1", 2),
        ("gradients/conv2/Conv2D_grad/Conv2DBackpropFilter:Conv2DBackpropFilter", "conv2", 2),
        ("gradients/conv2/Conv2D_grad/Conv2DBackpropInput:Conv2DBackpropInput", "conv2", 2),
    ]
    # The host's profiler writes them once more.
    assert rows(connection, "SELECT count(*) FROM ranges WHERE kind = 'device' AND name LIKE '%Conv2D%'") == [(10,)]


def test_collected_convolutions_have_shapes_and_work(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    found = """SELECT layer, direction, input_shape, filter_shape, output_shape, stride, padding, groups, dtype,
        parameters, flop FROM conv_calls WHERE step = 4 ORDER BY ALL"""
    one = ([16, 1, 28, 28], [20, 1, 5, 5], [16, 20, 24, 24], [1, 1], [0, 0], 1, "float32")
    two = ([16, 20, 12, 12], [50, 20, 5, 5], [16, 50, 8, 8], [1, 1], [0, 0], 1, "float32")
    # The bias is an input of the fused forward operator alone.
    assert rows(connection, found) == [
        ("conv1", "fprop", *one, 20 * 25 + 20, 2 * 16 * 20 * 25 * 24 * 24),
        ("conv1", "wgrad", *one, 20 * 25, 2 * 16 * 20 * 25 * 24 * 24),
        ("conv2", "dgrad", *two, 50 * 20 * 25, 2 * 16 * 50 * 20 * 25 * 8 * 8),
        ("conv2", "fprop", *two, 50 * 20 * 25 + 50, 2 * 16 * 50 * 20 * 25 * 8 * 8),
        ("conv2", "wgrad", *two, 50 * 20 * 25, 2 * 16 * 50 * 20 * 25 * 8 * 8),
    ]


def test_layers_are_neither_variables_nor_what_an_optimizer_does(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    found = rows(connection, "SELECT DISTINCT layer FROM ops WHERE layer IS NOT NULL ORDER BY 1")
    rest = ["SparseSoftmaxCrossEntropyWithLogits"]
    assert [layer for (layer,) in found] == [*rest, "conv1", "conv2", "fc1", "fc2"]
    updates = "SELECT count(*), count(layer) FROM ops WHERE contains(name, 'GradientDescent/update_') AND step = 4"
    assert rows(connection, updates) == [(8, 0)]


@pytest.mark.slow
@pytest.mark.shared
def test_kernels_are_counted_once_and_know_their_operator(captures: Any, shared: Path) -> None:
    connection = captures.open(shared / "traces/tf1-timeline/vgg-train.json.gz")
    assert rows(connection, "SELECT op_link, count(*), count(layer) FROM kernels GROUP BY 1") == [("name", 4789, 4789)]
    assert rows(connection, "SELECT kind, count(*) FROM ranges GROUP BY 1") == [("device", 4810)]
    assert rows(connection, "SELECT device, name FROM devices") == [(0, "/device:GPU:0")]
    assert rows(connection, "SELECT sum(n_kept), sum(n_events) FROM captures") == [(10019, 10019)]
    top = rows(connection, "SELECT op_name, layer FROM kernels GROUP BY ALL ORDER BY sum(dur_ns) DESC LIMIT 1")
    assert top == [("Validation/conv4_2/Conv2D:Conv2D", "Validation/conv4_2")]


@pytest.mark.slow
@pytest.mark.shared
def test_times_are_on_the_wall_clock(captures: Any, shared: Path) -> None:
    connection = captures.open(shared / "traces/tf1-timeline/gpu-step.json.gz")
    assert rows(connection, "SELECT DISTINCT origin_unix_ns FROM captures") == [(1490280136316529000,)]
    gradients = rows(connection, "SELECT DISTINCT layer FROM ops WHERE name LIKE 'gradients/layer_1/%'")
    assert ("layer_1/fully_connected",) in gradients


@pytest.mark.shared
def test_only_this_reader_knows_it(shared: Path, tmp_path: Path) -> None:
    for name in ("vgg-train", "gpu-step"):
        unknown = tmp_path / "unknown"
        unknown.write_bytes((shared / f"traces/tf1-timeline/{name}.json.gz").read_bytes())
        claims = [reader.NAME for reader in READERS[:-1] if reader.sniff(peek(unknown))]
        assert claims == ["tf_timeline"]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("share", first(1, [0.2, 0.5, 0.999]))
def test_a_cut_file_keeps_what_is_whole(shared: Path, tmp_path: Path, share: float) -> None:
    whole = gzip.decompress((shared / "traces/tf1-timeline/vgg-train.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: int(len(whole) * share)])
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    found = rows(connection, "SELECT sum(n_kept) FROM captures")[0][0]
    assert abs(found - 10019 * share) < 1500
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]


def timeline(path: Path, devices: list[str]) -> Path:
    """One kernel at the same time on each device."""
    events: list[dict[str, Any]] = []
    for pid, device in enumerate(devices, 1):
        name = {"name": f"{device}/stream:all Compute"}
        args = {"name": "conv1", "op": "Conv2D"}
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": name})
        events.append({"ph": "X", "cat": "Op", "name": "Conv2D", "pid": pid, "ts": 10, "dur": 50, "args": args})
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.mark.parametrize(
    ("names", "numbers"),
    first(
        1,
        [
            (["/device:GPU:1", "/device:GPU:3"], [1, 3]),
            (["/job:localhost/replica:0/task:0/device:GPU:2"], [2]),
            (["/job:worker/replica:0/task:0/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0"], [0, 1]),
        ],
    ),
)
def test_workers_that_count_alike_have_devices_of_their_own(
    names: list[str], numbers: list[int], tmp_path: Path
) -> None:
    connection = connected(store.convert([timeline(tmp_path / "unknown", names)], tmp_path / "out"))
    assert rows(connection, "SELECT device FROM kernels ORDER BY 1") == [(number,) for number in numbers]
    found = rows(connection, "SELECT device, name FROM devices WHERE kind = 'gpu' ORDER BY 1")
    assert found == list(zip(numbers, names, strict=True))


def test_gradients_in_a_scope_of_their_own_belong_to_their_forward_layer(tmp_path: Path) -> None:
    names = {
        "Train/CNNModel/cnn/conv-5/Conv2D": "Conv2D",
        "Train/CNNModel/gradients/Train/CNNModel/cnn/conv-5/Conv2D_grad/Conv2DBackpropFilter": "Conv2DBackpropFilter",
    }
    queues = ("/job:localhost/replica:0/task:0/device:GPU:0 Compute", "/device:GPU:0/stream:all Compute")
    events: list[dict[str, Any]] = []
    for pid, queue in enumerate(queues, start=1):
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": queue}})
        for at, (name, op) in enumerate(names.items(), start=1):
            times = {"ts": 100 * at + pid, "dur": 50}
            args = {"name": name, "op": op}
            events.append({"ph": "X", "cat": "Op", "pid": pid, "tid": 0, "name": op, **times, "args": args})
    (tmp_path / "timeline.json").write_text(json.dumps({"traceEvents": events}))
    with traceview.open(tmp_path / "timeline.json") as trace:
        found = trace.sql("SELECT layer, category, algorithm, direction FROM kernels ORDER BY start_ns").fetchall()
    layer = "Train/CNNModel/cnn/conv-5"
    assert found == [(layer, "conv", None, "fprop"), (layer, "conv", None, "wgrad")]
