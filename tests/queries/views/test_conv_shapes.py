"""Shapes of convolutions: one row per call, and none out of damaged numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from given import Given, conv, conv_backward, rows

PROBLEM = "mb1_ic3oc4_ih8oh6kh3sh1dh0ph0_iw8ow6kw3sw1dw0pw0"


def test_a_call_that_two_sources_tell_of_is_one_call(tmp_path: Path) -> None:
    """An ONNX Runtime node, or TensorFlow's with the collector's shapes, beside oneDNN's log."""
    given = Given()
    settings = {"inputs": ["[1, 1]", "[0, 0]", "[1, 1]", "1"]}
    for name, facts in (("conv1:Conv", {}), ("net/conv2/Conv2D:Conv2D", settings)):
        at = 1000 * len(given.rows.get("ops", ())) * 1000
        known = {"shapes": [[1, 3, 8, 8], [4, 3, 3, 3]], "output_shapes": [[1, 4, 6, 6]], "types": ["float"], **facts}
        row = {"name": name, "pid": 1, "tid": 1, "start_ns": at, "dur_ns": 50_000, "backend": "CPU"}
        given.add("ops", **row, **{key: json.dumps(value) for key, value in known.items()})
        given.primitive("convolution", at / 1000 + 10, at / 1000 + 40, shape=PROBLEM, prop_kind="forward_inference")
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT count(*), count(DISTINCT op_id) FROM conv_shapes") == [(2, 2)]
        assert rows(connection, "SELECT stride, total_ns FROM counted_conv_calls") == [([1, 1], 50_000)] * 2
        assert rows(connection, "SELECT sum(dur_ns) FROM busy") == [(100_000,)]


def test_of_a_tensor_subclass_the_shape_is_that_of_this_rank_s_part(tmp_path: Path) -> None:
    """A DTensor's convolution is recorded with the whole batch, the one that runs inside it with this rank's."""
    given = Given()
    conv(given, 0, (16, 3, 32, 32), (8, 3, 3, 3), padding=1)
    given.rows["ops"][-1]["dur_ns"] = 40_000
    given.op("PythonSubclass", 5, 38)
    conv(given, 20, (8, 3, 32, 32), (8, 3, 3, 3), padding=1)
    with given.open(tmp_path) as connection:
        flop = 2 * 8 * 8 * 32 * 32 * 3 * 9
        assert rows(connection, "SELECT input_shape, flop FROM conv_calls") == [([8, 3, 32, 32], flop)]
        assert rows(connection, "SELECT sum(matrix_flop) FROM op_costs") == [(flop,)]


def test_under_vmap_the_shape_is_that_of_all_samples(tmp_path: Path) -> None:
    """The operator is recorded with one sample, and inside of it the one that runs with all eight; for gradients of
    each sample the batch becomes groups of channels. The FLOP were those of one."""
    given, w = Given(), (8, 3, 3, 3)
    conv(given, 0, (1, 3, 16, 16), w, padding=1)
    given.rows["ops"][-1]["dur_ns"] = 40_000
    conv(given, 10, (8, 3, 16, 16), w, padding=1)
    conv_backward(given, 100, (1, 3, 16, 16), w, (1, 8, 16, 16), padding=1)
    given.rows["ops"][-1]["dur_ns"] = 60_000
    for at, x, y, groups, mask in (
        (110, (8, 3, 16, 16), (8, 8, 16, 16), 1, [True, False, False]),
        (130, (1, 24, 16, 16), (1, 64, 16, 16), 8, [False, True, False]),
    ):
        values = ["", "", "", "", [1, 1], [1, 1], [1, 1], False, [0, 0], groups, mask]
        own = w if groups == 1 else (64, 3, 3, 3)
        given.op("aten::convolution_backward", at, at + 10, [y, x, own, *[()] * 8], values)
    with given.open(tmp_path) as connection:
        flop = 2 * 8 * 8 * 16 * 16 * 3 * 9
        assert rows(connection, "SELECT input_shape, gradients, flop FROM conv_shapes ORDER BY op_id") == [
            ([8, 3, 16, 16], [], flop),
            ([8, 3, 16, 16], ["dgrad", "wgrad"], flop),
        ]
        assert rows(connection, "SELECT sum(matrix_flop) FROM op_costs") == [(3 * flop,)]


HUGE = 2**62


IMPOSSIBLE: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((HUGE, 3, 8, 8), (4, 3, 3, 3), 0),
    ((1, 3, 8, 8), (4, 3, 3, 3), HUGE),
    ((2**30,) * 4, (2**30, 2**30, 3, 3), 1),
    ((1, 3, 2, 2), (4, 3, 5, 5), 0),
    ((1, -3, 8, 8), (4, 3, 3, 3), 0),
]


@pytest.mark.long
def test_a_size_that_cannot_be_is_none(tmp_path: Path) -> None:
    given = Given()
    for number, (x, w, padding) in enumerate(IMPOSSIBLE):
        at = 100 * number
        conv(given, at, x, w, padding=padding)
        given.kernel("implicit_convolve_sgemm", at + 2, at + 8, launched=at + 1)
        given.op("aten::mm", at + 20, at + 30, [x[:2], w[:2]])
    with given.open(tmp_path) as connection:
        for view in ("conv_shapes", "conv_costs", "conv_methods", "conv_admissible", "conv_floors"):
            assert rows(connection, f"FROM {view}") == []
        found = rows(connection, "SELECT input_shape, flop, total_ns FROM conv_calls")
    assert found == [(None, None, 6000)] * len(IMPOSSIBLE)


def test_a_product_that_64_bits_do_not_hold_has_no_work(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::mm", 0, 10, [(HUGE, HUGE), (HUGE, HUGE)])
    found = rows(given.open(tmp_path), "SELECT m, flop, parameters FROM matmul_shapes")
    assert found == [(HUGE, None, None)]


@pytest.mark.long
@pytest.mark.parametrize("damage", ["mb1_ic3ic3oc4", "mb1_ic3oc99999999999999999999"])
def test_a_damaged_line_of_onednns_log_tells_no_shape(tmp_path: Path, damage: str) -> None:
    given = Given()
    given.op("Convolution", 0, 50)
    shape = f"{damage}_ih8oh6kh3sh1dh0ph0_iw8ow6kw3sw1dw0pw0"
    given.primitive("convolution", 10, 40, shape=shape, prop_kind="forward_inference")
    assert rows(given.open(tmp_path), "SELECT input_shape, total_ns FROM conv_calls") == [(None, 50_000)]


SIZES = {"f64": 8, "double": 8, "c10::Half": 2, "bf16": 2, "int8": 1, "u8": 1, "float": 4}


@pytest.mark.long
def test_bytes_of_an_element_are_those_of_its_type(tmp_path: Path) -> None:
    given = Given()
    for number, dtype in enumerate(SIZES):
        at = 100 * number
        conv(given, at, (2, 3, 8, 8), (4, 3, 3, 3), dtype=dtype)
        given.kernel("implicit_convolve_sgemm", at + 2, at + 8, launched=at + 1)
    elements = 2 * 3 * 8 * 8 + 4 * 3 * 3 * 3 + 2 * 4 * 6 * 6
    unrolled = 2 * 3 * 3 * 3 * 6 * 6
    query = """SELECT moved_bytes, m.workspace_bytes FROM conv_costs JOIN conv_methods m USING (op_id, direction)
        WHERE m.method = 'explicit GEMM' ORDER BY op_id"""
    assert rows(given.open(tmp_path), query) == [(size * elements, size * unrolled) for size in SIZES.values()]


def test_without_a_stride_the_output_is_not_known(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 10, [(2, 3, 8, 8), (4, 3, 3, 3)])
    given.kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    query = (
        "SELECT filter_shape, output_shape, flop, moved_bytes FROM conv_calls JOIN conv_costs USING (op_id, direction)"
    )
    assert rows(given.open(tmp_path), query) == [([4, 3, 3, 3], None, None, None)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y", "x", "filters", "transposed", "positions"),
    [
        ((1, 2, 8, 8), (1, 4, 4, 4), (4, 2, 4, 4), True, 16),
        ((1, 4, 4, 4), (1, 4, 8, 8), (4, 4, 3, 3), False, 16),
        ((1, 4, 8, 8), (1, 4, 4, 4), (4, 4, 4, 4), None, None),
    ],
)
def test_without_arguments_shapes_tell_a_transposed_convolution_or_nothing_does(
    tmp_path: Path,
    y: tuple[int, ...],
    x: tuple[int, ...],
    filters: tuple[int, ...],
    transposed: bool | None,
    positions: int | None,
) -> None:
    given = Given()
    given.op("aten::convolution_backward", 0, 10, [y, x, filters])
    given.kernel("sm80_xmma_wgrad_implicit_gemm_tf32f32", 5, 9, launched=1)
    connection = given.open(tmp_path)
    flop = 2 * math.prod(filters) * positions if positions else None
    assert rows(connection, "SELECT transposed, flop FROM conv_calls") == [(transposed, flop)]
    reason = None if flop else "its channels do not tell whether it is transposed, and that is not recorded"
    assert rows(connection, "SELECT matrix_flop, reason FROM op_costs") == [(2 * flop if flop else None, reason)]


STEM = ((32, 3, 224, 224), (64, 3, 7, 7), (32, 64, 112, 112))
BLOCK = ((32, 64, 56, 56), (128, 64, 3, 3), (32, 128, 28, 28))
STEM_FLOP, BLOCK_FLOP = (2 * 64 * 3 * 49 * 32 * 112 * 112, 2 * 128 * 64 * 9 * 32 * 28 * 28)


def old_pytorch() -> Given:
    """PyTorch 1.8 records the shapes of tensors, and neither stride nor padding; the output only of the gradients."""
    given = Given()
    for number, (x, w, y) in enumerate((STEM, BLOCK)):
        given.op("aten::cudnn_convolution", 100 * number, 100 * number + 10, [x, w])
        given.kernel("implicit_convolve_sgemm", 100 * number + 2, 100 * number + 8, launched=100 * number + 1)
        given.op("aten::cudnn_convolution_backward", 1000 - 100 * number, 1010 - 100 * number, [x, y, w])
        name = "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>"
        given.kernel(name, 1002 - 100 * number, 1008 - 100 * number, launched=1001 - 100 * number)
    return given


def test_forward_flops_and_stride_follow_from_the_gradients_sizes(tmp_path: Path) -> None:
    query = "SELECT flop, stride, padding, output_shape FROM conv_calls WHERE direction = '{}' ORDER BY start_ns"
    with old_pytorch().open(tmp_path) as connection:
        forward = rows(connection, query.format("fprop"))
        backward = rows(connection, query.format("wgrad"))
        sources = rows(connection, "SELECT DISTINCT source FROM conv_shapes ORDER BY 1")
        could = "SELECT count(*) FROM conv_admissible WHERE direction = 'fprop' AND is_admissible"
        assert rows(connection, could) == [(6,)]
    assert forward == [
        (STEM_FLOP, [2, 2], [3, 3], list(STEM[2])),
        (BLOCK_FLOP, [2, 2], [1, 1], list(BLOCK[2])),
    ]
    assert backward == forward[::-1]
    assert sources == [
        ("output as other calls with this input and filter have it; stride and padding from the sizes",),
        ("recorded; stride and padding from the sizes",),
    ]


@pytest.mark.long
def test_outputs_that_do_not_agree_are_lent_to_nobody(tmp_path: Path) -> None:
    """Calls of one input and filter with strides 1 and 2: which of the two the forward call had is not told."""
    given = old_pytorch()
    x, w, _ = BLOCK
    given.op("aten::cudnn_convolution_backward", 2000, 2010, [x, (32, 128, 56, 56), w])
    given.kernel("void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>", 2002, 2008, launched=2001)
    query = "SELECT flop FROM conv_calls WHERE direction = 'fprop' ORDER BY start_ns"
    assert rows(given.open(tmp_path), query) == [(STEM_FLOP,), (None,)]


def test_a_forward_call_without_shapes_has_those_of_its_gradient(tmp_path: Path) -> None:
    """As the profiler links the two by autograd's sequence number."""
    given = Given()
    given.op("aten::convolution", 0, 10)
    given.rows["ops"][-1]["sequence"] = 5
    given.kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    x, w, y = STEM
    conv_backward(given, 20, x, w, y, stride=2, padding=3)
    given.rows["ops"][-1] |= {"sequence": 5, "forward_thread": 1}
    given.kernel("void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>", 22, 28, launched=21)
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT flop, stride FROM conv_calls ORDER BY start_ns") == [(STEM_FLOP, [2, 2])] * 2
        query = "SELECT source FROM conv_shapes ORDER BY op_id"
        assert rows(connection, query) == [("the other pass of the same convolution",), ("recorded",)]


def test_sizes_that_no_stride_explains_have_none(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::cudnn_convolution_backward", 0, 10, [(1, 3, 8, 8), (1, 4, 900, 900), (4, 3, 3, 3)])
    given.kernel("void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>", 2, 8, launched=1)
    assert rows(given.open(tmp_path), "SELECT stride, source FROM conv_shapes") == [(None, "recorded")]
