"""Calls of convolutions: on a CPU without a library's log an operator's own time, neighbours that overlap by a tick."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import first
from given import Given, conv, rows

IMAGE, FILTER = (1, 64, 56, 56), (64, 64, 1, 1)
COLUMNS = "op_name, direction, algorithm, libraries, main_ns, helper_ns, total_ns, flop"


def forward(given: Given) -> None:
    values = ("", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1")
    given.op("aten::conv2d", 0, 100, [IMAGE, FILTER, (64,)], ("", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"))
    given.op("aten::_convolution", 5, 95, [IMAGE, FILTER, (64,)], values)
    given.op("aten::_nnpack_available", 6, 8)
    given.op("aten::_slow_conv2d_forward", 10, 90)
    given.op("aten::empty", 12, 14)


@pytest.mark.slow
def test_pytorchs_own_convolution_is_a_matrix_product_after_im2col(tmp_path: Path) -> None:
    given = Given()
    forward(given)
    found = given.open(tmp_path).execute(f"SELECT {COLUMNS} FROM conv_calls").fetchall()
    work = 2 * 64 * 64 * 56 * 56
    assert found == [("aten::conv2d", "fprop", "explicit_gemm", ["pytorch"], 78_000, 22_000, 100_000, work)]


@pytest.mark.slow
def test_both_gradients_in_one_operator_are_of_no_one_pass(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::convolution_backward", 0, 100)
    given.op("aten::_nnpack_available", 1, 3)  # it was taken for a forward convolution once
    given.op("aten::_slow_conv2d_backward", 10, 90)
    query = "SELECT direction, algorithm, evidence, main_ns FROM conv_calls"
    assert given.open(tmp_path).execute(query).fetchall() == [
        (None, "explicit_gemm", ["aten::_slow_conv2d_backward"], 80_000)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "direction", "passes"),
    first(
        1, [("[True, True, False]", None, 2), ("[False, True, True]", "wgrad", 1), ("[True, False, False]", "dgrad", 1)]
    ),
)
def test_the_gradients_that_one_operator_was_asked_for(
    tmp_path: Path, asked: str, direction: str | None, passes: int
) -> None:
    given = Given()
    values = ("", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", asked)
    given.op("aten::convolution_backward", 0, 100, [IMAGE, IMAGE, FILTER], values)
    given.op("aten::_slow_conv2d_backward", 10, 90)
    found = given.open(tmp_path).execute("SELECT direction, algorithm, flop FROM conv_calls").fetchall()
    assert found == [(direction, "explicit_gemm", passes * 2 * 64 * 64 * 56 * 56)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernels",
    [
        ("Im2d2Col_v2.kd", "Cijk_Alik_Bljk_SB_MT64x64x16"),
        ("Memset (Device)", "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nt"),
    ],
)
def test_kernels_in_a_call_for_the_filter_gradient_alone_are_of_that(kernels: tuple[str, ...], tmp_path: Path) -> None:
    given = Given()
    asked = "[False, True, False]"
    values = ("", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", asked)
    given.op("aten::convolution_backward", 0, 40, [IMAGE, IMAGE, FILTER], values)
    for at in (0, 20):
        for place, name in enumerate(kernels):
            start = 100 + at + 10 * place
            given.kernel(name, start, start + 10 - place, launched=at + 2 + 2 * place)
    connection = given.open(tmp_path)
    query = "SELECT direction, algorithm, main_ns, transform_ns + helper_ns FROM conv_calls"
    assert rows(connection, query) == [("wgrad", "explicit_gemm", 18_000, 20_000)]
    assert rows(connection, "SELECT DISTINCT direction FROM kernels WHERE category = 'conv'") == [("wgrad",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inner", "layout_ns", "helper_ns"),
    [("aten::constant_pad_nd", 0, 60_000), ("aten::_to_copy", 0, 60_000), ("aten::contiguous", 60_000, 0)],
)
def test_a_copy_that_pads_or_casts_is_no_layout_change(
    inner: str, layout_ns: int, helper_ns: int, tmp_path: Path
) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 50)
    given.op(inner, 2, 20)
    given.op("aten::copy_", 5, 15)
    copy = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<direct_copy_kernel_cuda>>"
    given.kernel(copy, 100, 160, launched=6)
    given.op("aten::cudnn_convolution", 25, 45)
    given.kernel("implicit_convolve_sgemm", 160, 260, launched=30)
    query = "SELECT direction, main_ns, layout_ns, helper_ns FROM conv_calls"
    assert rows(given.open(tmp_path), query) == [("fprop", 100_000, layout_ns, helper_ns)]


@pytest.mark.slow
def test_additions_of_a_complex_convolution_are_no_bias(tmp_path: Path) -> None:
    """It is three real ones; under vmap a bias of its own for each sample is added inside aten::convolution."""
    given = Given()
    add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
    for place, name in enumerate(("aten::add", "aten::sub", "aten::mul")):
        given.op("aten::conv2d", 100 * place, 100 * place + 80)
        given.op("aten::convolution", 100 * place + 2, 100 * place + 40)
        given.op("aten::add", 100 * place + 20, 100 * place + 35)
        given.op(name, 100 * place + 45, 100 * place + 55)
        at = 1000 * (place + 1)
        given.kernel("implicit_convolve_sgemm", at, at + 100, launched=100 * place + 5)
        given.kernel(add, at + 100, at + 130, launched=100 * place + 25)
        given.kernel(add, at + 130, at + 150, launched=100 * place + 50)
    query = "SELECT direction, main_ns, bias_ns, helper_ns FROM conv_calls"
    assert rows(given.open(tmp_path), query) == [("fprop", 100_000, 30_000, 20_000)] * 3


@pytest.mark.slow
@pytest.mark.parametrize("source", first(1, ["src:f32:a:blocked:abcd::f0", "src_f32::blocked:abcd:f0"]))
def test_the_type_is_told_by_new_and_old_logs(tmp_path: Path, source: str) -> None:
    given = Given()
    given.op("Convolution", 0, 100)
    shape = "mb16_ic1oc20_ih28oh24kh5sh1dh0ph0_iw28ow24kw5sw1dw0pw0"
    given.primitive("convolution", 10, 90, impl="jit:avx2", prop_kind="forward_training", formats=source, shape=shape)
    query = "SELECT dtype, input_shape, arithmetic FROM conv_calls JOIN conv_costs USING (op_id, direction)"
    assert given.open(tmp_path).execute(query).fetchall() == [("f32", [16, 1, 28, 28], "fp32")]


@pytest.mark.long
def test_with_a_librarys_account_an_operators_own_time_is_help(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 100)
    given.op("aten::mkldnn_convolution", 10, 90)
    primitive = {"library": "oneDNN", "kind": "convolution", "impl": "jit:avx2", "prop_kind": "forward_training"}
    given.add("primitives", start_ns=20_000, dur_ns=60_000, **primitive)
    query = "SELECT direction, algorithm, main_ns, helper_ns, total_ns FROM conv_calls"
    assert given.open(tmp_path).execute(query).fetchall() == [("fprop", "direct", 60_000, 40_000, 100_000)]


@pytest.mark.long
def test_an_operator_that_starts_in_the_tick_of_its_convolution_is_around_it(tmp_path: Path) -> None:
    given = Given()
    given.op("Block", 0, 100)
    conv(given, 0, IMAGE, FILTER)  # 10 us long
    given.kernel("implicit_convolve_sgemm", 5, 20, launched=2)
    given.kernel("volta_sgemm_32x128_nn", 60, 90, launched=50)  # the block's own
    with given.open(tmp_path) as connection:
        found = connection.execute(
            "SELECT op_name, category, call_id IS NULL FROM kernels ORDER BY start_ns"
        ).fetchall()
        calls = connection.execute("SELECT op_name, algorithm, total_ns FROM conv_calls").fetchall()
    assert found == [("aten::convolution", "conv", False), ("Block", "gemm", True)]
    assert calls == [("aten::convolution", "implicit_gemm", 15_000)]


@pytest.mark.long
@pytest.mark.parametrize("missing", ["pid", "tid"])
def test_operators_of_no_recorded_thread_are_calls_too(missing: str, tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER)
    given.kernel("implicit_convolve_sgemm", 5, 20, launched=2)
    for row in (*given.rows["ops"], *given.rows["api_calls"]):
        row[missing] = None
    with given.open(tmp_path) as connection:
        assert connection.execute("SELECT algorithm, total_ns FROM conv_calls").fetchall() == [
            ("implicit_gemm", 15_000)
        ]


def on(given: Given, thread: int, name: str, start: int, end: int) -> None:
    given.add("ops", name=name, pid=1, tid=thread, start_ns=start * 1000, dur_ns=(end - start) * 1000)


def product(given: Given, start: int, end: int) -> None:
    times = {"start_ns": start * 1000, "dur_ns": (end - start) * 1000}
    given.add("primitives", kind="gemm_api", prop_kind="undef", shape="64x50:50x500", library="oneDNN", **times)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "direction", "algorithm"),
    first(
        2,
        [
            ("conv1/BiasAdd:_FusedConv2D", "fprop", "implicit_gemm"),
            ("gradient_tape/conv1/Conv2DBackpropInput:Conv2DBackpropInput", "dgrad", "explicit_gemm"),
            ("gradient_tape/conv1/Conv2DBackpropFilter:Conv2DBackpropFilter", "wgrad", "explicit_gemm"),
            ("up/conv2d_transpose:Conv2DBackpropInput", "fprop", "explicit_gemm"),
            ("gradient_tape/up/conv2d_transpose/Conv2D:Conv2D", "dgrad", "implicit_gemm"),
            ("aten::conv2d", "fprop", None),
        ],
    ),
)
def test_products_below_a_convolution_are_its_arithmetic(
    tmp_path: Path, name: str, direction: str, algorithm: str | None
) -> None:
    """TensorFlow without oneDNN's operators; it was a helper, and its products stood under gemm."""
    given = Given()
    on(given, 1, name, 0, 100)
    product(given, 10, 60)
    product(given, 30, 80)  # of another thread of the same operator
    connection = given.open(tmp_path)
    found = connection.execute("SELECT direction, algorithm, main_ns, helper_ns, total_ns FROM conv_calls").fetchall()
    assert found == [(direction, algorithm, 70_000, 30_000, 100_000)]
    assert connection.execute("SELECT DISTINCT category FROM primitives").fetchall() == [("conv",)]


@pytest.mark.slow
def test_each_pass_of_tensorflows_transposed_convolution_runs_one_of_a_plain_convolution(tmp_path: Path) -> None:
    up = "gradient_tape/up/conv2d_transpose"
    passes = {
        "up/conv2d_transpose:_MklNativeConv2DBackpropInput": "backward_data",
        f"{up}/Conv2DBackpropFilter:_MklNativeConv2DBackpropFilter": "backward_weights",
        f"{up}/Conv2D:_MklNativeConv2D": "forward_training",
    }
    shape = "mb1_ic2oc4_ih8oh4kh4sh2dh0ph1_iw8ow4kw4sw2dw0pw1"
    given = Given()
    for at, (name, way) in zip((0, 100, 200), passes.items(), strict=True):
        on(given, 1, name, at, at + 90)
        given.primitive("convolution", at + 10, at + 80, prop_kind=way, shape=shape)
    query = "SELECT direction, transposed, input_shape, filter_shape, output_shape, flop FROM conv_calls ORDER BY op_id"
    call = (True, [1, 4, 4, 4], [4, 2, 4, 4], [1, 2, 8, 8], 2 * 4 * 2 * 16 * 16)
    assert given.open(tmp_path).execute(query).fetchall() == [("fprop", *call), ("wgrad", *call), ("dgrad", *call)]


@pytest.mark.slow
def test_calls_that_run_at_once_share_their_time(tmp_path: Path) -> None:
    """Both gradients took all of it, 350 ms of a step of 200."""
    given = Given()
    on(given, 1, "g/conv1/Conv2DBackpropInput:Conv2DBackpropInput", 0, 200)
    on(given, 2, "g/conv1/Conv2DBackpropFilter:Conv2DBackpropFilter", 100, 250)
    query = "SELECT direction, total_ns, main_ns FROM conv_calls ORDER BY direction"
    assert given.open(tmp_path).execute(query).fetchall() == [
        ("dgrad", 150_000, 150_000),
        ("wgrad", 100_000, 100_000),
    ]


def test_operators_far_inside_a_call_are_part_of_it(tmp_path: Path) -> None:
    given = Given()
    for depth in range(110):
        given.op("aten::conv2d" if depth == 0 else f"custom::inner{depth}", depth, 1000 - depth)
    given.op("aten::add", 1000, 1010)
    connection = given.open(tmp_path)
    asked = "SELECT count(*), count(DISTINCT call_id), max(o.depth) FROM attributed.op a JOIN raw.ops o USING (id)"
    assert connection.execute(asked).fetchall() == [(100, 1, 99)]


def test_neighbours_that_overlap_by_a_nanosecond_are_two_calls_and_an_addition(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER)
    given.kernel("implicit_convolve_sgemm<float, float, 128, 5, 5, 3>", 100, 150, launched=5)
    conv(given, 9.999, IMAGE, FILTER)
    given.kernel("implicit_convolve_sgemm<float, float, 128, 5, 5, 3>", 200, 250, launched=15)
    given.op("aten::add", 19.998, 40)
    given.kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", 300, 400, 25)
    connection = given.open(tmp_path)
    assert rows(connection, "SELECT main_ns, bias_ns, total_ns FROM conv_calls") == [(50_000, 0, 50_000)] * 2
    categories = "SELECT category, count(*) FROM kernels GROUP BY 1 ORDER BY 1"
    assert rows(connection, categories) == [("conv", 2), ("elementwise", 1)]
    assert rows(connection, "SELECT self_ns FROM ops ORDER BY start_ns") == [(10_000,), (10_000,), (20_002,)]


def test_onednns_reorders_on_an_intel_gpu_are_layout_changes(tmp_path: Path) -> None:
    given = Given()
    given.device("Intel(R) Data Center GPU Max 1100")
    conv(given, 0, (5, 64, 56, 56), (64, 64, 3, 3), padding=1)
    for name, start, end in (("conv_reorder", 20, 28), ("gen_conv", 28, 90), ("conv_reorder", 90, 100)):
        given.kernel(name, start, end, launched=5)
    query = "SELECT main_ns, layout_ns, total_ns FROM conv_calls"
    assert given.open(tmp_path).execute(query).fetchall() == [(62_000, 18_000, 80_000)]


def test_tensiles_scaling_of_the_result_is_help_of_the_product_behind_it(tmp_path: Path) -> None:
    given = Given()
    given.device("AMD Instinct MI300X")
    conv(given, 0, IMAGE, FILTER)
    given.kernel("Cijk_S_GA", 20, 60, launched=5)
    given.kernel("Cijk_Ailk_Bljk_SB_MT64x32x16_SN_1LDSB0_APM1_ABV0", 60, 160, launched=6)
    query = "SELECT main_ns, helper_ns, total_ns FROM conv_calls"
    assert given.open(tmp_path).execute(query).fetchall() == [(100_000, 40_000, 140_000)]
