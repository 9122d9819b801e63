"""Convolutions on a CPU without a primitive: switched off, lowered, or computed by the library."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "library_off_on_cpu"
REASON = "no operator or kernel of a convolution was recognised in this trace."


def steps(below: str, conv_us: float = 100, **about: object) -> Given:
    given = training(device=None)
    given.about = about
    for start in (0, 1000, 2000):
        given.op("Conv2D", start + 10, start + 10 + conv_us)
        if below:
            given.primitive(below, start + 20, start + 20 + conv_us / 2, impl="")
        given.op("MatMul", start + 500, start + 600)
    return given


def test_primitives_outside_of_operators_are_not_said_to_be_none(tmp_path: Path) -> None:
    """A log of oneDNN alone: all of its time is in convolutions, and none of them is a call."""
    given = Given()
    given.primitive("convolution", 0, 1500, prop_kind="forward_training")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


OFF = {"environment": {"TF_ENABLE_ONEDNN_OPTS": "0"}}


def test_a_switch_of_all_operators_has_all_of_their_time_in_its_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps("", **OFF), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 200_000)
    assert found.evidence == (
        "convolutions beyond the peak of the processor, as far as it and their shapes are known: 0.100 ms",
        "other operators that the switch gives to the library, all of their time: 0.100 ms (gemm 0.100 ms)",
    )
    assert found.confidence.startswith("high that it is off: the switch is recorded")


PYTORCH = {"flags": {"mkldnn.enabled": False}}


@pytest.mark.slow
def test_pytorch_s_other_operators_are_speculative(tmp_path: Path) -> None:
    found = answer(RULE, steps("", **PYTORCH), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 100_000)
    assert found.evidence == (
        "convolutions beyond the peak of the processor, as far as it and their shapes are known: 0.100 ms",
        "speculative: up to 0.100 ms more (10.0 % of the step) if the primitives of the library for other operators "
        "took no time (gemm 0.100 ms)",
    )
    assert found.confidence.startswith("high that it is off: the switch is recorded")


def lowered(memory_format: str) -> Given:
    """A layer whose two gradients take 70 microseconds, and its forward pass 10 by NNPACK."""
    given = training(device=None)
    given.about = {**PYTORCH, "model": {"input": {"memory_format": memory_format}}}
    x, w, y = (4, 8, 16, 16), (8, 8, 3, 3), (4, 8, 16, 16)
    for start in (0, 1000, 2000):
        given.span("module", "conv1", start + 5, start + 200)
        conv(given, start + 10, x, w, padding=1)
        given.op("aten::_nnpack_spatial_convolution", start + 11, start + 20)
        given.op("aten::relu", start + 30, start + 33, [y])
        at = start + 100
        given.op("aten::convolution_backward", at, at + 70, [y, x, w, *[()] * 8], BACKWARD)
    return given


BACKWARD = ["", "", "", [8], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]]


@pytest.mark.slow
def test_lowered_passes_are_held_against_the_fastest_pass_of_their_layer(tmp_path: Path) -> None:
    found = answer(RULE, lowered("channels_last"), tmp_path / "last")
    # The gradients have twice the arithmetic of the forward pass: 70 - 20 microseconds.
    assert (found.status, found.saving_ns) == ("found", pytest.approx(50_000, abs=1))
    assert found.evidence[0].startswith("convolutions beyond the rate of the fastest pass of each layer")
    # In the plain layout the library reorders input and output of both calls, each as long as the activation: 4 x 3.
    plain = answer(RULE, lowered("contiguous"), tmp_path / "plain")
    assert plain.saving_ns == pytest.approx(38_000, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "status"), [("float", "found"), ("double", "not found")])
def test_the_library_has_no_primitive_for_float64(dtype: str, status: str, tmp_path: Path) -> None:
    given = training(device=None)
    given.about = PYTORCH
    for start in (0, 1000, 2000):
        conv(given, start, (4, 8, 16, 16), (8, 8, 3, 3), padding=1, dtype=dtype)
        given.op("aten::_slow_conv2d_forward", start + 1, start + 10)
    assert answer(RULE, given, tmp_path, lowered_step_pct=0).status == status


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "status"), [("float", "not found"), ("c10::BFloat16", "found")])
def test_where_the_switch_is_on_pytorch_chose_its_own_loops_by_size(dtype: str, status: str, tmp_path: Path) -> None:
    given = training(device=None)
    given.about = {"flags": {"mkldnn.enabled": True}}
    for start in (0, 1000, 2000):
        conv(given, start, (1, 8, 16, 16), (8, 8, 3, 3), padding=1, dtype=dtype)
        given.op("aten::_slow_conv2d_forward", start + 1, start + 10)
    assert answer(RULE, given, tmp_path, lowered_step_pct=0).status == status


@pytest.mark.long
def test_a_matrix_product_under_a_convolution_shows_it_too(tmp_path: Path) -> None:
    found = answer(RULE, steps("gemm_api"), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 100_000)
    assert found.problem == "Convolutions of 1 layers take 0.100 ms without a primitive of the library."


@pytest.mark.long
def test_with_a_primitive_or_without_a_sign_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps("convolution", **OFF), tmp_path / "there").status == "not found"
    assert answer(RULE, steps(""), tmp_path / "nothing").status == "not found"


def tensorflow(version: str, *flags: str, **environment: str) -> dict[str, object]:
    flags = ("sse4_1", "avx2", *flags)
    return {
        "framework": "tensorflow",
        "framework_version": version,
        "cpu_flags": list(flags),
        "environment": environment,
    }


@pytest.mark.long
def test_tensorflow_leaves_it_off_on_processors_without_the_instructions(tmp_path: Path) -> None:
    found = answer(RULE, steps("", **tensorflow("2.21.0")), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 200_000)
    assert found.confidence.startswith("medium: TensorFlow leaves it off on a processor without AVX512_VNNI")


@pytest.mark.long
@pytest.mark.parametrize(
    "about",
    [
        tensorflow("2.21.0", "avx512f", "avx512_vnni"),
        tensorflow("2.21.0", "avx_vnni"),
        tensorflow("2.21.0", "amx_int8"),
        tensorflow("2.21.0", TF_ENABLE_ONEDNN_OPTS="1"),
        tensorflow("2.4.1"),
        tensorflow("2.21.0") | {"environment": None},
    ],
)
def test_where_it_is_on_or_that_is_not_known_it_is_not(tmp_path: Path, about: dict[str, object]) -> None:
    assert answer(RULE, steps("", **about), tmp_path).status == "not found"


@pytest.mark.long
def test_a_primitive_shows_that_it_is_on(tmp_path: Path) -> None:
    given = steps("", **tensorflow("2.21.0"))
    given.primitive("softmax", 900, 910)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.slow
def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps("gemm_api", 51), tmp_path / "above").status == "found"
    assert answer(RULE, steps("gemm_api", 49), tmp_path / "below").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)
