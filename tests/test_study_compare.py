"""Comparisons that others have published, re-done: two logs of one model, TensorFlow's copies beside Caffe's.

And what `compare` says of public traces and of samples of ours, of different frameworks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from asked import ONE
from compared import table

from traceview.analysis import compare
from traceview.analysis.compare import Run
from traceview.analysis.model import Report
from traceview.ingest.finish import Export, finish
from traceview.ingest.sink import Sink, made
from traceview.store import views

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def near(value: float, rel: float = 0.005) -> Any:
    return pytest.approx(value, rel=rel)


def run_of(connection: duckdb.DuckDBPyConnection, name: str, steps: tuple[int, int] | None = None) -> Run:
    return compare.measure(connection, name, steps, not compare.has_steps(connection))


@pytest.fixture(scope="module")
def pair(shared: Path, captures) -> Report:  # type: ignore[no-untyped-def]
    """TensorFlow 0.12 AlexNet, batch 16, GTX 980 (hclhkbu/dlbench at 29187fb), the 16 steady steps of each."""
    paths = [shared / "traces/nvprof" / f"gtx980-tf-alexnet-{name}.txt.gz" for name in ("old", "new")]
    return compare.compare([run_of(captures.open(path), path.name, (1, 16)) for path in paths], ["model"])


@pytest.mark.slow
@pytest.mark.shared
def test_the_nvprof_pair_differs_by_11_2_ms_a_step(pair: Report) -> None:
    old, new = table(pair, "ranking")
    assert (old["step_ns"], new["step_ns"]) == (near(48.751e6, 1e-4), near(59.978e6, 1e-4))
    assert (old["place"], new["place"], new["ratio"]) == (1, 2, near(1.23, 0.002))
    assert new["diff_ns"] == near(11.227e6, 1e-3) and (new["low"], new["high"]) == (near(1.223), near(1.237))
    assert new["verdict"].startswith("larger than the noise; ")


@pytest.mark.slow
@pytest.mark.shared
def test_the_pair_is_ranked_since_both_ran_one_command(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """Neither records its model, and each notes one command (`python alexnetbm.py ...`): ranked, and said to be so."""
    paths = [shared / "traces/nvprof" / f"gtx980-tf-alexnet-{name}.txt.gz" for name in ("old", "new")]
    report = compare.compare([run_of(captures.open(path), path.name, (1, 16)) for path in paths], [])
    (answer,) = table(report, "answer")
    assert answer["sentence"].startswith("B is 23.0 % slower than A")
    reservation = "model (taken for the same, since both ran the same command), batch, precision"
    assert f"Not recorded, so not checked: {reservation}." in answer["sentence"]
    assert table(report, "conditions")[0]["verdict"] == "not recorded (same command)"


@pytest.mark.slow
@pytest.mark.shared
def test_its_difference_is_the_update_the_first_gradient_and_idle_time(pair: Report) -> None:
    """Milliseconds and share by category: half is the update of the weights (Eigen), less the first gradient."""
    rows = {row["part"]: row for row in table(pair, "difference")}
    explained = {
        "elementwise": (5.525, 49.2),
        "conv": (1.940, 17.3),
        "memcpy_dtoh": (1.599, 14.2),
        "idle: between steps": (1.4175, 12.6),
        "layout_transpose": (0.401, 3.6),
        "idle: unknown": (0.396, 3.5),
        "concat_split": (0.216, 1.9),
        "pooling": (-0.215, -1.9),
    }
    for part, (ms, share) in explained.items():
        assert rows[part]["diff_ns"] == near(ms * 1e6), part
        assert rows[part]["share_pct"] == pytest.approx(share, abs=0.06), part
    assert list(rows)[:9] == ["(whole step)", *list(explained)]
    parts = [row["diff_ns"] for part, row in rows.items() if part not in ("(whole step)", "(between steps)")]
    assert sum(parts) == near(rows["(whole step)"]["diff_ns"], 1e-9)


@pytest.mark.shared
def test_the_kernels_that_prove_it(pair: Report) -> None:
    names = table(pair, "names")
    update, gradient, image = names[:3]
    assert "Eigen" in update["name"] and (update["base_calls"], update["calls"]) == (0, near(16))
    assert update["diff_ns"] == near(5.53e6)
    assert "dgrad_engine" in gradient["name"] and gradient["diff_ns"] == near(2.02e6)
    assert image["name"] == "[CUDA memcpy DtoH]" and image["diff_ns"] == near(1.60e6)
    copies = {row["direction"]: row for row in table(pair, "copies")}
    assert copies["DtoH"]["size_bytes"] == near(9.1875 * 2**20, 1e-4)
    (dgrad,) = [row for row in table(pair, "algorithms") if row["algorithm"] == "implicit_gemm"]
    assert (dgrad["direction"], dgrad["base_calls"], dgrad["calls"]) == ("dgrad", 0, near(1))
    busy = [(row["busy_ns"], row["busy_pct"], row["span_busy_pct"]) for row in table(pair, "utilisation")]
    assert busy == [(near(45.570e6, 1e-4), near(93.5), near(51.2)), (near(54.983e6, 1e-4), near(91.7), near(67.3))]


DECK = {
    "tensorflow": {
        "HtoD": (107_912, 123.256, 221.538),
        "DtoH": (107_883, 220.186, 151.341),
        "DtoD": (64_615, 258.46, 86.024),
    },
    "caffe": {"HtoD": (379, 172.955, 15.045), "DtoH": (571, 17.973, 2.283), "DtoD": (450, 508.779, 2.51)},
}
"""Calls, megabytes and milliseconds of ten iterations of CIFAR-10, as nvprof summed them up for NVIDIA's deck
"deep learning frameworks review". The rows are made up so that they have these sums: the deck has no others."""


def copies_of(framework: str, folder: Path) -> Run:
    with duckdb.connect() as connection:
        connection.execute(made())
        sink = Sink(connection)
        start = 0
        for direction, (calls, megabytes, milliseconds) in DECK[framework].items():
            total_bytes, total_ns = round(megabytes * 1e6), round(milliseconds * 1e6)
            each_ns = total_ns // calls
            last = range(calls - 1, calls)
            rows = {
                "direction": [direction] * calls,
                "name": [f"[CUDA memcpy {direction}]"] * calls,
                "device": [0] * calls,
                "stream": [7] * calls,
                "size_bytes": [total_bytes // calls + (total_bytes % calls if n in last else 0) for n in range(calls)],
                "start_ns": [start + each_ns * n for n in range(calls)],
                "dur_ns": [each_ns + (total_ns % calls if n in last else 0) for n in range(calls)],
            }
            sink.write("memcpys", pa.table(rows))
            start += total_ns + 1000
        sink.fact(source="given", format="given", framework=framework)
        sink.end_source()
        sink.write_rows("ranks", [{"world_size": 1}])
        finish(Export(sink, folder / "rank-0000"))
    with views.connect(folder, ONE) as connection:
        return run_of(connection, framework)


@pytest.mark.long
def test_tensorflows_tiny_copies_beside_caffes(tmp_path: Path) -> None:
    """The deck's table, its ratios worked out: 285, 189 and 144 times the calls, 14.7, 66.3 and 34.3 times the time."""
    report = compare.compare([copies_of("caffe", tmp_path / "caffe"), copies_of("tensorflow", tmp_path / "tensorflow")])
    rows = {row["direction"]: row for row in table(report, "copies")}
    assert {name: round(row["calls_ratio"]) for name, row in rows.items()} == {"HtoD": 285, "DtoH": 189, "DtoD": 144}
    assert {name: round(row["ratio"], 1) for name, row in rows.items()} == {"HtoD": 14.7, "DtoH": 66.3, "DtoD": 34.3}
    sizes = {name: (round(row["base_mean_bytes"]), round(row["mean_bytes"])) for name, row in rows.items()}
    assert sizes == {"HtoD": (456_346, 1142), "DtoH": (31_476, 2041), "DtoD": (1_130_620, 4000)}
    assert rows["HtoD"]["throughput_bytes_per_s"] == near(556.42e6, 1e-3)
    assert rows["HtoD"]["base_throughput_bytes_per_s"] == near(11.496e9, 1e-3)
    assert sum(row["total_ns"] for row in rows.values()) / sum(row["base_ns"] for row in rows.values()) == near(23.1)
    assert list(rows) == ["HtoD", "DtoH", "DtoD"]
    verdict = table(report, "ranking")[1]["verdict"]
    assert verdict == "no steps: whole recordings are compared, not ranked"


@pytest.mark.long
@pytest.mark.shared
def test_the_same_training_with_other_kernels_and_twice_the_idle_time(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """ResNet-50 on a V100 by two releases of PyTorch: kernels cost the same, the host does not."""
    names = ("v100-resnet50-train-old", "v100-resnet50-train-array")
    runs = [run_of(captures.open(shared / f"traces/kineto/{name}.json.gz"), name) for name in names]
    report = compare.compare(runs)
    assert {row["condition"]: row["verdict"] for row in table(report, "conditions")} == {
        "model": "same",
        "batch": "same",
        "precision": "not recorded",
        "passes": "same",
    }
    rows = {row["part"]: row for row in table(report, "difference")}
    assert rows["(whole step)"]["diff_ns"] == near(59.03e6)
    # The host launches too late and loads longer; the kernels cost the same.
    assert rows["idle: launch"]["share_pct"] == near(75.5)
    assert rows["idle: data"]["share_pct"] == near(26.6)
    assert rows["conv"]["share_pct"] == near(-3.6, 0.02)
    changed = [row for row in table(report, "convolutions") if row["base_algorithm"] != row["algorithm"]]
    assert {(row["filter"], row["direction"]) for row in changed[:2]} == {
        ("512x256x1x1", "fprop"),
        ("128x256x1x1", "fprop"),
    }
    assert {row["algorithm"] for row in changed[:2]} == {"implicit_precomp_gemm"}


@pytest.mark.long
@pytest.mark.shared
def test_another_network_on_another_device_is_only_shown(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    names = ("v100-resnet50-train-old", "mi300-resnet18-train")
    runs = [run_of(captures.open(shared / f"traces/kineto/{name}.json.gz"), name) for name in names]
    report = compare.compare(runs)
    assert table(report, "ranking")[1]["verdict"] == "not ranked: model, batch differ"
    layout = [row for row in table(report, "pointwise") if row["work"] == "layout inside convolutions"]
    assert [(row["library"], row["base_ns"], row["busy_ns"]) for row in layout] == [("miopen", 0, near(11.77e6))]
    assert {row["device"] for row in table(report, "runs")} == {"GPU", "AMD Instinct MI300X"}


@pytest.fixture(scope="module")
def sample(captures) -> Callable[[str], Run]:  # type: ignore[no-untyped-def]
    """`sample(name)`: what a comparison knows of a sample of ours."""

    def measured(name: str) -> Run:
        with views.connect(captures.folder_of(SAMPLES / name)) as connection:
            return run_of(connection, name)

    return measured


@pytest.mark.slow
def test_what_fusing_gives_in_onnx_runtime(sample: Callable[[str], Run]) -> None:
    """AlexNet with and without its optimizations: activations are gone, every convolution but one is faster."""
    plain = sample("onnxruntime/onnxruntime-1.31.1-alexnet-unfused-cpu.json.gz")
    fused = sample("onnxruntime/onnxruntime-1.31.1-alexnet-cpu.json.gz")
    report = compare.compare([plain, fused])
    second = table(report, "ranking")[1]
    assert (second["diff_ns"], second["ratio"]) == (near(-21.006e6), near(0.766))
    activation = next(row for row in table(report, "pointwise") if row["work"] == "activation")
    assert (activation["base_calls"], activation["calls"], activation["busy_ns"]) == (7, 0, 0)
    convolutions = table(report, "convolutions")
    assert [(row["base_layer"], row["layer"], row["matched_by"]) for row in convolutions[:2]] == [
        ("conv4", "relu4_nchwc", "filter and place"),
        ("conv5", "relu5_nchwc", "filter and place"),
    ]
    assert [row["base_layer"] for row in convolutions if row["diff_ns"] > 0] == ["conv2"]


@pytest.mark.long
def test_three_frameworks_stand_in_one_table_by_work(sample: Callable[[str], Run]) -> None:
    """AlexNet by PyTorch, Keras on TensorFlow and JAX: every kind of work, whose time, whose library."""
    names = ("kineto/torch-2.13.0", "xplane/keras-3.15.1-tensorflow", "xplane/jax-0.10.2")
    suffixes = (".json.gz", ".xplane.pb.gz", ".xplane.pb.gz")
    runs = [sample(f"{name}-alexnet-cpu{suffix}") for name, suffix in zip(names, suffixes, strict=True)]
    rows = table(compare.compare(runs), "work")
    assert [(row["run"], row["framework"]) for row in rows[:3]] == [("A", "PyTorch"), ("B", "TensorFlow"), ("C", "JAX")]
    of = {(row["run"], row["work"]): row for row in rows}
    assert {row["work"] for row in rows} == {
        "bias", "activation (ReLU)", "convolution", "matrix product", "pooling", "layout conversion",
    }  # fmt: skip
    assert of["C", "convolution"]["library"] == "ynnpack"
    assert of["B", "convolution"]["ratio_to_best"] == 1 and of["A", "layout conversion"]["busy_ns"] is None
    assert (of["A", "convolution"]["busy_ns"], of["C", "convolution"]["busy_ns"]) == (near(2136.07e6), near(733.57e6))


@pytest.mark.slow
def test_logs_of_single_steps_beside_a_timeline(sample: Callable[[str], Run]) -> None:
    """Their layers and what is in none add up to the step, and no part has the noise of a timeline that it lacks."""
    names = ("onnxruntime/onnxruntime-1.31.1", "opencv_dnn/opencv-4.14.0", "cntk_timing/cntk-2.7")
    suffixes = (".json.gz", ".txt.gz", ".txt.gz")
    runs = [sample(f"{name}-alexnet-cpu{suffix}") for name, suffix in zip(names, suffixes, strict=True)]
    report = compare.compare(runs)
    for run in "BC":
        parts = {row["part"]: row for row in table(report, "difference") if row["run"] == run}
        whole = parts.pop("(whole step)")
        assert whole["low_ns"] < whole["diff_ns"] < whole["high_ns"]
        assert sum(row["busy_ns"] for row in parts.values()) == near(whole["busy_ns"], 1e-6)
        assert sum(row["base_ns"] for row in parts.values()) == near(whole["base_ns"], 1e-6)
        assert {(row["low_ns"], row["high_ns"], row["beyond_ns"]) for row in parts.values()} == {(None, None, None)}
    # OpenCV computes activations with what comes before: listed, and of no time.
    activation = {row["run"]: row for row in table(report, "work") if row["work"] == "activation (ReLU)"}
    assert (activation["B"]["calls"], activation["B"]["busy_ns"], activation["B"]["ratio_to_best"]) == (7, 0, None)
    assert activation["C"]["ratio_to_best"] == 1
    costs = [(row["run"], row["cause"]) for row in table(report, "costs")]
    assert costs == [("B", "known in A alone"), ("C", "known in A alone")]


@pytest.mark.slow
def test_gradients_that_one_of_two_computes_at_once_stand_beside_both_of_the_other(
    sample: Callable[[str], Run],
) -> None:
    """PyTorch's operator computes both gradients of conv2 to conv5, JAX each alone; of conv1 there is one in both."""
    jax, torch = sample("xplane/jax-0.10.2-alexnet-cpu.xplane.pb.gz"), sample("kineto/torch-2.13.0-alexnet-cpu.json.gz")
    rows = table(compare.compare([jax, torch]), "convolutions")
    passes = {(row["layer"], row["direction"]) for row in rows}
    assert passes == {(f"conv{n}", "fprop") for n in range(1, 6)} | {("conv1", "wgrad")} | {
        (f"conv{n}", "backward") for n in range(2, 6)
    }
    assert {row["base_layer"] == row["layer"] and row["matched_by"] for row in rows} == {"filter and place"}
    conv2 = next(row for row in rows if (row["layer"], row["direction"]) == ("conv2", "backward"))
    assert (conv2["base_ns"], conv2["total_ns"]) == (near(181.79e6), near(580.27e6))


@pytest.mark.slow
def test_two_frameworks_on_one_network(sample: Callable[[str], Run]) -> None:
    """AlexNet, batch 16, by PyTorch and by Keras on TensorFlow: layers meet whatever they are called."""
    torch = sample("kineto/torch-2.13.0-alexnet-cpu.json.gz")
    keras = sample("xplane/keras-3.15.1-tensorflow-alexnet-cpu.xplane.pb.gz")
    report = compare.compare([torch, keras])
    assert [(row["batch"], row["steps"]) for row in table(report, "runs")] == [(16, 4), (None, 2)]
    assert table(report, "conditions")[0]["base_value"] == "filters: 5, products: 3, 62,378,344 parameters"
    model = table(report, "conditions")[0]
    assert (model["verdict"], model["detail"]) == ("not recorded", "A alone records it")
    assert table(report, "ranking")[1]["verdict"] == "not ranked: nothing tells that both ran the same model"
    forward = {row["base_layer"]: row["layer"] for row in table(report, "convolutions") if row["direction"] == "fprop"}
    assert forward == {f"conv{n}": f"alexnet_1/conv{n}_1" for n in range(1, 6)}
    layers = {row["base_layer"]: row["layer"] for row in table(report, "layers") if row["matched_by"]}
    same = [f"conv{n}" for n in range(1, 6)] + ["fc6", "fc7", "fc8", "pool1", "pool2", "pool5"]
    loss = "compile_loss/sparse_categorical_crossentropy/SparseSoftmaxCrossEntropyWithLogits"
    assert layers == {**{name: f"alexnet_1/{name}_1" for name in same}, "CrossEntropyLoss": loss}
