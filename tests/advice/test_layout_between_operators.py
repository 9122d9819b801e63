"""Layout changes between operators: on both sides of a twentieth of device time."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import US, Given

RULE = "layout_between_operators"
TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"


CONVOLUTION = "ampere_scudnn_128x64_relu_small_nn_v1"


def steps(layout_us: float, arithmetic: str = CONVOLUTION) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::contiguous", start, start + 10)
        given.kernel(TO_NHWC, start + 100, start + 100 + layout_us, launched=start + 1)
        given.kernel(arithmetic, start + 200, start + 390, launched=start + 20)
    return given


FILTER = (
    "void tensorflow::functor::SwapDimension0And2InTensor3<float>(int, float const *, tensorflow::functor::Dimension)"
)


@pytest.mark.long
def test_filters_that_tensorflow_turns_stay_in_any_layout_and_are_not_counted(tmp_path: Path) -> None:
    given = steps(20)
    for start in (0, 1000, 2000):
        given.kernel(FILTER, start + 400, start + 440, launched=start + 30)
    found = answer(RULE, given, tmp_path / "both")
    assert (found.status, found.saving_ns) == ("found", 20_000)
    assert found.evidence[-1].endswith("1.0 conversions of filters, 0.040 ms")
    alone = steps(1)
    for start in (0, 1000, 2000):
        alone.kernel(FILTER, start + 400, start + 440, launched=start + 30)
    assert answer(RULE, alone, tmp_path / "filters").status == "not found"


@pytest.mark.long
def test_of_two_devices_of_a_process_the_mean_counts(tmp_path: Path) -> None:
    given = steps(20)
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC, start + 100, start + 130, launched=start + 1, device=1)
        given.kernel(CONVOLUTION, start + 200, start + 390, launched=start + 20, device=1)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", (20_000 + 30_000) // 2)


def test_the_share_is_of_all_time_of_the_device_whenever_it_was_launched(tmp_path: Path) -> None:
    """20 of 350 us in a step, of which 140 were launched before the steps."""
    given = steps(20)
    given.kernel(CONVOLUTION, 400, 820, launched=-50)
    found = answer(RULE, given, tmp_path)
    assert found.problem == "5.7 % of the device's busy time changes the layout of tensors between operators."


@pytest.mark.parametrize(
    ("operators", "kernel"),
    [
        (("aten::pixel_shuffle", "aten::contiguous"), TO_NHWC),
        (("aten::pixel_shuffle",), "void at::native::(anonymous namespace)::pixel_shuffle"),
        (("model/up",), "void tensorflow::D2S_NCHW<float>(int, float const*, int, int, float*)"),
        (
            ("aten::roll",),
            "void at::native::(anonymous namespace)::roll_cuda_kernel<c10::Half>(c10::Half const*, long)",
        ),
    ],
)
def test_what_no_choice_of_layout_takes_away_is_not_found(
    operators: tuple[str, ...], kernel: str, tmp_path: Path
) -> None:
    given = training()
    for start in (0, 1000, 2000):
        for inside, operator in enumerate(operators):
            given.op(operator, start + inside, start + 10 - inside)
        given.kernel(kernel, start + 100, start + 200, launched=start + 5)
        given.kernel(CONVOLUTION, start + 200, start + 390, launched=start + 20)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_above_the_threshold_it_is_found_under_its_operator(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 11_000, "Mostly under aten::contiguous")


@pytest.mark.slow
def test_what_has_no_operator_is_not_counted_and_may_leave_the_answer_open(tmp_path: Path) -> None:
    given = steps(11)
    for start in (0, 1000, 2000):
        given.kernel(TO_NHWC.replace("nchwToNhwc", "nhwcToNchw"), start + 600, start + 700)
    found = answer(RULE, given, tmp_path / "both", layout_device_pct="3")
    assert (found.status, found.saving_ns) == ("found", 11_000)
    assert found.evidence[-1] == "not counted, as no operator is recorded for them: 1.0 calls, 0.100 ms"
    unclear = answer(RULE, given, tmp_path / "unclear")
    assert (unclear.status, unclear.record) == ("cannot tell", "a run on a GPU with its runtime calls")
    assert unclear.reason.startswith("33.2 % of the device's busy time changes the layout of tensors with no operator")


def test_without_an_operator_it_counts_where_its_like_runs_between_operators_alone(tmp_path: Path) -> None:
    given = steps(11)
    given.rows["api_calls"] = [call for call in given.rows["api_calls"] if call["start_ns"] >= 1_000_000]
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 11_000)
    assert found.evidence[1].endswith("under (no operator): 0.3 calls and 0.004 ms")


def test_without_any_operators_it_says_that_the_place_is_not_known(tmp_path: Path) -> None:
    given = steps(11)
    del given.rows["ops"]
    # What cuDNN itself moves beside a convolution is inside it.
    assert answer(RULE, given, tmp_path / "cudnn").status == "not found"
    for kernel in given.rows["kernels"]:
        kernel["name"] = kernel["name"].replace(TO_NHWC, "SwapDimension1And2InTensor3UsingTiles<float, int=32>")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 11_000)
    assert found.problem == (
        "5.5 % of the device's busy time changes the layout of tensors; which operators do it, and whether "
        "convolutions, is not recorded."
    )


@pytest.mark.parametrize(
    ("operator", "instruction", "status"),
    [
        ("jit(step)/transpose(jvp(N))/stem/transpose_copy_fusion.1", "transpose_copy_fusion.1", "not found"),
        ("jit(step)/transpose(jvp(N))/stem/transpose", "transpose_copy_fusion.1", "found"),
        ("jit(step)/transpose(jvp(N))/copy.3", "copy.3", "found"),
        ("ReorderOutput_token_7:ReorderOutput", None, "not found"),
        ("up/DepthToSpace:DepthToSpace", None, "not found"),
        ("up/DepthToSpace-0-TransposeNHWCToNCHW-LayoutOptimizer:Transpose", None, "found"),
        ("perm:Transpose", None, "found"),
    ],
)
def test_what_a_library_adds_for_a_convolution_itself_is_not_between_operators(
    operator: str, instruction: str | None, status: str, tmp_path: Path
) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.add("ops", name=operator, hlo_op=instruction, pid=1, tid=1, start_ns=start * US, dur_ns=10 * US)
        given.kernel(TO_NHWC, start + 100, start + 150, launched=start + 1)
        given.op("jit(step)/transpose(jvp(N))/stem/conv_general_dilated", start + 15, start + 30)
        given.kernel(CONVOLUTION, start + 200, start + 390, launched=start + 20)
    assert answer(RULE, given, tmp_path).status == status


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path).status == "not found"


@pytest.mark.long
def test_without_convolutions_there_is_no_layout_to_choose(tmp_path: Path) -> None:
    assert answer(RULE, steps(11, "ampere_sgemm_128x64_nn"), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no timed work on a device.")


@pytest.mark.long
def test_on_a_cpu_a_copy_that_puts_a_tensor_into_order_counts_and_a_plain_clone_does_not(tmp_path: Path) -> None:
    def one(copied: str) -> Given:
        given = training()
        for start in (0, 1000, 2000):
            given.op("aten::conv2d", start, start + 190)
            given.op(copied, start + 200, start + 230)
            given.op("aten::clone", start + 201, start + 230)
            given.op("aten::copy_", start + 202, start + 230)
        return given

    found = answer(RULE, one("aten::contiguous"), tmp_path / "ordered")
    assert (found.status, found.saving_ns) == ("found", 29_000)
    assert answer(RULE, one("aten::dropout"), tmp_path / "plain").status == "not found"
