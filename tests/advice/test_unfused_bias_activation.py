"""Bias and activation kernels: on both sides of a twentieth of device time; gradients do not count."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice

RULE = "unfused_bias_activation"


def steps(relu_us: float, operator: str = "aten::relu") -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op(operator, start, start + 10)
        given.kernel("vectorized_elementwise_kernel<4>", start + 20, start + 20 + relu_us, launched=start + 1)
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 290, launched=start + 15)
    return given


def test_above_the_threshold_it_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 11_000, "Mostly in aten::relu")


@pytest.mark.parametrize(("name", "percent"), [("devices", 9.5), ("carried", 5.7)])
def test_the_share_is_of_the_time_of_a_device_whoever_launched_it(name: str, percent: float, tmp_path: Path) -> None:
    """Four devices that do the same at once; and 420 us in the first step that were launched before it."""
    given = steps(20)
    if name == "devices":
        given.rows["kernels"] += [
            {**row, "device": device} for device in (1, 2, 3) for row in given.rows["kernels"] if row["device"] == 0
        ]
    else:
        given.kernel("ampere_sgemm_128x64_nn", 400, 820, launched=-50)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 20_000)
    assert found.problem.startswith(f"{percent} % of the device's busy time adds biases")


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path).status == "not found"


@pytest.mark.long
def test_a_gradient_cannot_be_fused_this_way(tmp_path: Path) -> None:
    assert answer(RULE, steps(50, "aten::threshold_backward"), tmp_path).status == "not found"


@pytest.mark.long
def test_the_place_is_where_all_of_it_together_loses_most(tmp_path: Path) -> None:
    given = steps(30, "aten::gelu")
    for start in (0, 1000, 2000):
        for at in (start + 300, start + 400, start + 500):
            given.op("aten::relu", at, at + 10)
            given.kernel("vectorized_elementwise_kernel<4>", at + 20, at + 40, launched=at + 1)
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.place) == (90_000, "Mostly in aten::relu, aten::gelu")


@pytest.mark.long
def test_a_real_pair_with_and_without_fusion(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """AlexNet in ONNX Runtime, with its optimizer off and on."""
    said = {}
    for kind in ("alexnet-unfused-cpu", "alexnet-cpu"):
        connection = captures.open(root / f"samples/onnxruntime/onnxruntime-1.31.1-{kind}.json.gz")
        (said[kind],) = advice.run(connection, advice.load([RULE]), {"unfused_device_pct": "0.5"})
    assert said["alexnet-cpu"].status == "not found"
    assert (said["alexnet-unfused-cpu"].status, said["alexnet-unfused-cpu"].saving_pct) == (
        "found",
        pytest.approx(0.6, abs=0.1),
    )


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no timed work on a device.")
