"""Products near the peak of half precision on devices with a higher one for fp8."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice

pytestmark = pytest.mark.slow

RULE = "products_in_fp8"
H100 = "NVIDIA H100 80GB HBM3"
LEAST_US = 1e6 * 2 * 4096**3 / 989.4e12


def steps(times: float, device: str = H100, dtype: str = "c10::BFloat16", inner: int = 4096, us: float = 0) -> Given:
    """In each of three steps a product that takes `times` what the peak of bf16 allows, or `us`."""
    given = training(device=device)
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 20, [(4096, inner), (inner, 4096)], ["", ""], dtype)
        end = start + 30 + (us or times * LEAST_US * inner / 4096)
        given.kernel("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN", start + 30, end, launched=start + 11)
    return given


def test_the_same_part_of_the_higher_peak_is_left(tmp_path: Path) -> None:
    found = answer(RULE, steps(1.25), tmp_path)
    assert found.status == "found"
    assert found.saving_ns == pytest.approx(1250 * LEAST_US * (1 - 989.4 / 1978.9), rel=1e-3)
    assert found.problem == (
        f"Products in half precision take {1.25 * LEAST_US / 1000:.3f} ms at 80 % of their peak; that of {H100} for "
        "fp8 is 2 times as high."
    )
    assert found.confidence.startswith("low: speculative")


@pytest.mark.parametrize(
    "given",
    [
        steps(2.1),
        steps(1.25, device="NVIDIA A100-SXM4-40GB"),
        steps(1.25, dtype="float"),
        steps(0, inner=64, us=1e6 * (2 * 4096 * 64 + 4096**2) * 2 / 3.35e12),
    ],
    ids=["far from the peak", "a device without fp8", "single precision", "bound by the memory"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_products_in_fp8_already_are_not(tmp_path: Path) -> None:
    given = training(device=H100)
    for start in (0, 1000, 2000):
        sizes = [(4096, 4096), (4096, 4096), (), ()]
        given.op("aten::_scaled_mm", start + 10, start + 20, sizes, [""] * 4, "c10::Float8_e4m3fn")
        given.kernel("nvjet_qqtst_128x256", start + 30, start + 30 + 0.6 * LEAST_US, launched=start + 11)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize(("us", "status"), [(5.2, "not found"), (5.5, "cannot tell")])
def test_products_of_no_known_operator_are_not_denied_above_a_twentieth_of_the_busy_time(
    us: float, status: str, tmp_path: Path
) -> None:
    """As those of a CUDA graph, beside one of 100 us, which is not bound by arithmetic."""
    given = steps(0, inner=64, us=100)
    for start in (500, 1500, 2500):
        given.kernel("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN", start, start + us)
        given.copy("HtoD", start + 100, start + 101)
    said = answer(RULE, given, tmp_path)
    assert said.status == status
    words = "products, convolutions and kernels of unknown kind whose operator is not known take 5.2 % of the device's "
    assert said.reason == (f"{words}busy time." if status == "cannot tell" else "")


def test_products_of_an_operator_of_an_extension_are_not_denied(tmp_path: Path) -> None:
    """Their operator is known, but not how it multiplies."""
    given = steps(0, inner=64, us=100)
    for start in (500, 1500, 2500):
        given.op("vllm::moe_forward", start, start + 10, [(4096, 64), (64, 4096)], ["", ""], "c10::BFloat16")
        given.kernel("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN", start + 20, start + 45, launched=start + 1)
    said = answer(RULE, given, tmp_path)
    assert said.status == "cannot tell"
    assert said.reason.endswith("whose operator is not known, or not its sizes, take 20.0 % of the device's busy time.")


@pytest.mark.parametrize("devices", [1, 8])
def test_the_share_is_of_all_devices_of_a_rank(devices: int, tmp_path: Path) -> None:
    """Beside a product of 100 us one of an extension of 25 us, on each of them."""
    given = steps(0, inner=64, us=100)
    for device in range(devices):
        if device:
            given.device(H100, device=device)
        for start in (0, 1000, 2000):
            if device:
                given.kernel("elementwise_kernel", start + 30, start + 130, device=device, launched=start + 12)
            given.op("vllm::moe_forward", start + 500, start + 510, [(4096, 64), (64, 4096)], ["", ""], "c10::BFloat16")
            given.kernel("nvjet_tst_128x256", start + 520, start + 545, device=device, launched=start + 501)
    assert "take 20.0 % of the device's busy time" in answer(RULE, given, tmp_path).reason


def test_a_product_is_found_beside_others_of_no_known_operator(tmp_path: Path) -> None:
    given = steps(1.25)
    given.kernel("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN", 400, 900)
    assert answer(RULE, given, tmp_path).status == "found"


def test_without_sizes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(device=H100), tmp_path).status == "cannot tell"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_with_and_without(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    rules = advice.load([RULE])
    (found,) = advice.run(captures.open(shared / "traces/operators/h100-qwen-decode.json.gz"), rules)
    assert found.status == "found" and found.saving_ns == pytest.approx(4_172_000, rel=1e-3)
    (found,) = advice.run(captures.open(shared / "traces/operators/h100-vit-forward.json.gz"), rules)
    assert found.status == "not found"
