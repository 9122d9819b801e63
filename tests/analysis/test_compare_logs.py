"""Comparison of logs that give average times: no timeline, but a step, its layers and their passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compared import table

from traceview.analysis import compare
from traceview.analysis.compare import Run
from traceview.analysis.model import Report

pytestmark = pytest.mark.shared
HEAD = "convnet-benchmarks_"


@pytest.fixture(scope="module")
def logged(shared: Path, captures):  # type: ignore[no-untyped-def]
    def compared(*names: str, accepted: tuple[str, ...] = ()) -> Report:
        return compare.compare([measured(captures, shared / f"studies/{HEAD}{name}.log") for name in names], accepted)

    return compared


def measured(captures: Any, path: Path) -> Run:
    return compare.measure(captures.open(path), path.name, None, True)


def ms(value: float) -> Any:
    return pytest.approx(value * 1e6, abs=1e4)


@pytest.mark.long
def test_layers_of_two_runs_of_caffe(logged: Any) -> None:
    """im2col and GEMM against cuDNN R4: 117.33 / 193.55 ms of convolutions and 33.83 / 70.01 ms."""
    report = logged("de7cfc3_caffe_output_alexnet", "6f718db_caffe_output_alexnet")
    parts = {row["part"]: (row["base_ns"], row["busy_ns"]) for row in table(report, "difference")}
    assert parts["(whole step)"] == (ms(324.849), ms(128.729))
    assert parts["conv"] == (ms(117.329 + 193.549), ms(33.831 + 70.010))
    whole = parts.pop("(whole step)")
    assert tuple(sum(side) for side in zip(*parts.values(), strict=True)) == pytest.approx(whole)
    (conv2,) = [row for row in table(report, "layers") if row["layer"] == "conv2/5x5_s1"]
    assert (conv2["base_layer"], conv2["kind"], conv2["matched_by"]) == ("conv2/5x5_s1", "conv", "kind and place")
    assert (conv2["base_forward_ns"], conv2["forward_ns"]) == (ms(28.91), ms(11.56))
    assert (conv2["base_backward_ns"], conv2["backward_ns"]) == (ms(47.53), ms(22.25))
    bars = {(row["run"], row["pass"], row["layer"]): row["busy_ns"] for row in table(report, "stacked")}
    assert (bars["A", "forward", "conv3"], bars["A", "backward", "conv1"]) == (ms(22.741 + 0.266), ms(42.896 + 1.168))
    both = [sum(value for (run, _, _), value in bars.items() if run == each) for each in "AB"]
    assert both == [ms(324.586), ms(128.428)]


@pytest.mark.long
def test_a_log_without_the_last_layers_is_not_ranked_with_one_that_has_them(logged: Any) -> None:
    report = logged("de7cfc3_caffe_output_alexnet", "6f718db_caffe_output_alexnet")
    model, *_ = table(report, "conditions")
    assert (model["verdict"], model["detail"]) == ("differs", "only in this run: gemm layers (3)")
    assert table(report, "ranking")[1]["verdict"] == "not ranked: model differs"


@pytest.mark.long
def test_steps_with_a_deviation_are_held_against_the_noise(logged: Any) -> None:
    """Tensorflow before and after its copies between CPU and GPU went: 420 and 326 ms, deviations of 42 and 33."""
    names = ("f831524_tf_output_alexnet", "b27b0a5_tf_output_alexnet")
    row = table(logged(*names), "ranking")[1]
    assert (row["place"], row["verdict"]) == (None, "not ranked: nothing tells that both ran the same model")
    row = table(logged(*names, accepted=("model",)), "ranking")[1]
    assert (row["step_ns"], row["sd_ns"], row["steps"], row["place"]) == (ms(326), ms(33), 100, 1)
    assert row["speedup"] == pytest.approx(420 / 326)
    assert row["verdict"] == "larger than the noise; not checked: model, batch, precision"


@pytest.mark.slow
def test_without_a_deviation_nothing_is_said_of_noise(logged: Any) -> None:
    report = logged("6f718db_caffe_output_alexnet", "6f718db_caffe_output_alexnet")
    row = table(report, "ranking")[1]
    unchecked = "; not checked: precision"
    assert (row["place"], row["verdict"]) == (1, f"cannot tell from noise: a log gives no deviation{unchecked}")
    # Nor of what was idle.
    assert [row["idle_ns"] for row in table(report, "utilisation")] == [None, None]


@pytest.mark.long
def test_a_log_of_several_networks_is_compared_as_a_whole(logged: Any) -> None:
    """The first layer's input gradient forced or not, each of five layers a network of its own: 1.39x and 1.41x."""
    report = logged("caffe_output_forceGradInput", "caffe_output_noGradInput")
    row = table(report, "ranking")[1]
    assert (row["place"], row["verdict"]) == (None, "no steps: whole recordings are compared, not ranked")
    layers = {row["layer"]: 1 / row["ratio"] for row in table(report, "layers")}
    assert layers["ConvLayer_3x96x11x11 conv1"] == pytest.approx(1.39, abs=0.006)
    assert layers["ConvLayer_64x128x9x9 conv2"] == pytest.approx(1.39, abs=0.006)
    assert layers["ConvLayer_128x128x9x9 conv3"] == pytest.approx(1.41, abs=0.006)


@pytest.mark.long
def test_several_implementations_of_a_layer_do_not_add_up(logged: Any) -> None:
    report = logged("084c4f0_layerwise_output", "084c4f0_layerwise_output")
    assert not table(report, "difference")
    assert table(report, "runs")[0]["step_ns"] is None
    assert not table(report, "stacked")
    layers = table(report, "layers")
    assert len(layers) == 20 and {row["ratio"] for row in layers} == {1.0}
    assert all(row["layer"].split(" input")[0].split(".")[0] in ("cudnn", "nn", "ccn2") for row in layers)


@pytest.mark.long
def test_a_log_beside_a_trace_of_the_same_network(root: Path, captures: Any) -> None:
    runs = [
        measured(captures, root / "samples/cntk_timing/cntk-2.7-alexnet-cpu.txt.gz"),
        compare.measure(captures.open(root / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz"), "torch", None, False),
    ]
    report = compare.compare(runs)
    layers = {row["base_layer"]: row for row in table(report, "layers")}
    assert [layers[f"conv{n}"]["layer"] for n in range(1, 6)] == [f"conv{n}" for n in range(1, 6)]
    assert [layers[f"fc{n}"]["layer"] for n in (6, 7, 8)] == ["fc6", "fc7", "fc8"]
    # What a log does not tell is not missing in it.
    assert [table(report, name) for name in ("names", "convolutions", "algorithms", "copies")] == [[], [], [], []]
