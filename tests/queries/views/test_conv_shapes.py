"""Shapes of convolutions: one row per call, and none out of damaged numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from given import Given, conv, rows

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


HUGE = 2**62


@pytest.mark.parametrize(
    ("x", "w", "padding"),
    [
        ((HUGE, 3, 8, 8), (4, 3, 3, 3), 0),
        ((1, 3, 8, 8), (4, 3, 3, 3), HUGE),
        ((2**30,) * 4, (2**30, 2**30, 3, 3), 1),
        ((1, 3, 2, 2), (4, 3, 5, 5), 0),
        ((1, -3, 8, 8), (4, 3, 3, 3), 0),
    ],
)
def test_a_size_that_cannot_be_is_none(tmp_path: Path, x: tuple[int, ...], w: tuple[int, ...], padding: int) -> None:
    given = Given()
    conv(given, 0, x, w, padding=padding)
    given.kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    given.op("aten::mm", 20, 30, [x[:2], w[:2]])
    with given.open(tmp_path) as connection:
        for view in ("conv_shapes", "conv_costs", "conv_methods", "conv_admissible", "conv_floors"):
            assert rows(connection, f"FROM {view}") == []
        assert rows(connection, "SELECT input_shape, flop, total_ns FROM conv_calls") == [(None, None, 6000)]


def test_a_product_that_64_bits_do_not_hold_has_no_work(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::mm", 0, 10, [(HUGE, HUGE), (HUGE, HUGE)])
    found = rows(given.open(tmp_path), "SELECT m, flop, parameters FROM matmul_shapes")
    assert found == [(HUGE, None, None)]


@pytest.mark.parametrize("damage", ["mb1_ic3ic3oc4", "mb1_ic3oc99999999999999999999"])
def test_a_damaged_line_of_onednns_log_tells_no_shape(tmp_path: Path, damage: str) -> None:
    given = Given()
    given.op("Convolution", 0, 50)
    shape = f"{damage}_ih8oh6kh3sh1dh0ph0_iw8ow6kw3sw1dw0pw0"
    given.primitive("convolution", 10, 40, shape=shape, prop_kind="forward_inference")
    assert rows(given.open(tmp_path), "SELECT input_shape, total_ns FROM conv_calls") == [(None, 50_000)]


@pytest.mark.parametrize(
    ("dtype", "size"), [("f64", 8), ("double", 8), ("c10::Half", 2), ("bf16", 2), ("int8", 1), ("u8", 1), ("float", 4)]
)
def test_bytes_of_an_element_are_those_of_its_type(tmp_path: Path, dtype: str, size: int) -> None:
    given = Given()
    conv(given, 0, (2, 3, 8, 8), (4, 3, 3, 3), dtype=dtype)
    given.kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    elements = 2 * 3 * 8 * 8 + 4 * 3 * 3 * 3 + 2 * 4 * 6 * 6
    unrolled = 2 * 3 * 3 * 3 * 6 * 6
    query = """SELECT moved_bytes, m.workspace_bytes FROM conv_costs JOIN conv_methods m USING (op_id, direction)
        WHERE m.method = 'explicit GEMM'"""
    assert rows(given.open(tmp_path), query) == [(size * elements, size * unrolled)]


def test_without_a_stride_the_output_is_not_known(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 10, [(2, 3, 8, 8), (4, 3, 3, 3)])
    given.kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    query = (
        "SELECT filter_shape, output_shape, flop, moved_bytes FROM conv_calls JOIN conv_costs USING (op_id, direction)"
    )
    assert rows(given.open(tmp_path), query) == [([4, 3, 3, 3], None, None, None)]
