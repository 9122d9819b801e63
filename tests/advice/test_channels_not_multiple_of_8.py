"""Channels for tensor cores: multiples of 8 or not, and how much they weigh."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

pytestmark = pytest.mark.slow

RULE = "channels_not_multiple_of_8"

HALF = "sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"


def steps(filters: int, channels: int = 64, kernel_us: float = 50) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start + 10, (2, channels, 32, 32), (filters, channels, 3, 3), padding=1)
        given.rows["ops"][-1]["types"] = '["c10::Half", "c10::Half", "c10::Half"]'
        given.kernel(HALF, start + 30, start + 30 + kernel_us, launched=start + 12)
    return given


def test_sizes_that_are_none_are_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(63), tmp_path)
    assert found.status == "found" and found.saving_ns is not None and 45_000 < found.saving_ns < 50_000
    assert found.evidence == ("conv1 63x64x3x3 (guessed) fprop filter 63 x 64 x 3 x 3: 0.050 ms",)


@pytest.mark.long
def test_what_runs_beside_something_earlier_is_not_lost(tmp_path: Path) -> None:
    given = steps(63)
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel<4>", start + 20, start + 60, launched=start + 1, stream=8)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 20_000
    assert found.problem == "1 shape of convolutions and products takes 0.020 ms on tiles that it does not fill."


@pytest.mark.long
def test_multiples_of_eight_and_images_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(64), tmp_path / "even").status == "not found"
    assert answer(RULE, steps(64, channels=3), tmp_path / "image").status == "not found"
    assert answer(RULE, steps(64, channels=5), tmp_path / "odd").status == "found"


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(63, kernel_us=9), tmp_path).status == "not found"


@pytest.mark.long
def test_products_count_too(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 20, [(64, 128), (128, 1001)], ["", ""])
        given.rows["ops"][-1]["types"] = '["c10::BFloat16", "c10::BFloat16"]'
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64_ldg8_nn", start + 30, start + 80, launched=start + 12)
    found = answer(RULE, given, tmp_path)
    assert found.evidence == ("aten::mm 64 x 128 by 128 x 1001: 0.050 ms",)


def products(name: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        for number, (first, second) in enumerate(shapes):
            at = start + 10 + 100 * number
            given.op(name, at, at + 10, [first, second], ["", ""])
            given.rows["ops"][-1]["types"] = '["c10::BFloat16", "c10::BFloat16"]'
            given.kernel("ampere_bf16_s16816gemm_bf16_64x64_ldg8_nn", at + 20, at + 70, launched=at + 2)
    return given


@pytest.mark.long
def test_rows_of_the_batch_and_attention_do_not_count(tmp_path: Path) -> None:
    assert answer(RULE, products("aten::mm", ((77, 128), (128, 64))), tmp_path / "rows").status == "not found"
    attention = products("aten::bmm", ((12, 77, 64), (12, 64, 77)))
    assert answer(RULE, attention, tmp_path / "attention").status == "not found"


@pytest.mark.long
def test_a_gradient_counts_the_channels_of_its_weights_alone(tmp_path: Path) -> None:
    """The filter gradient sums over the rows of the batch: 77 is none of its channels, 1001 is."""
    for classes, status in ((1000, "not found"), (1001, "found")):
        given = products("aten::mm", ((77, 128), (128, classes)), ((128, 77), (77, classes)))
        for row in given.rows["ops"]:
            row["forward_thread"] = 1 if row["shapes"].startswith("[[128, 77]") else None
        assert answer(RULE, given, tmp_path / str(classes)).status == status


def test_nodes_of_a_graph_are_no_channels(tmp_path: Path) -> None:
    """The product by a square matrix, 77 x 77, and the gradient leave the channels, 512 and 256, alone."""
    given = products("aten::mm", ((77, 512), (512, 256)), ((77, 77), (77, 256)), ((512, 77), (77, 256)))
    for row in given.rows["ops"]:
        row["forward_thread"] = 1 if row["shapes"].startswith("[[512, 77]") else None
    assert answer(RULE, given, tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")


def test_the_peak_is_that_of_the_type_whatever_the_instruction_is_called(tmp_path: Path) -> None:
    """`s1688` names TF32 where the arguments are single precision; these are bfloat16."""
    given = products("aten::mm", ((1024, 1024), (1024, 1001)))
    for row in given.rows["kernels"]:
        row["name"] = "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1"
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == pytest.approx(50_000 - 1e9 * 2 * 1024 * 1024 * 1001 / 312e12, abs=1)
