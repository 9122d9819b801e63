"""A primitive belongs to an operator that can have called it; where several can, to none. Times in microseconds."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given

CONV = ("convolution", "forward_training")
DATA = ("convolution", "backward_data")
WEIGHTS = ("convolution", "backward_weights")
REORDER = ("reorder", "undef")
PRODUCT = ("inner_product", "forward_training")


class Threads(Given):
    """Operators on any thread, and primitives, which have none."""

    def on(self, thread: int, name: str, start: int, end: int) -> None:
        self.add("ops", name=name, pid=1, tid=thread, start_ns=start * 1000, dur_ns=(end - start) * 1000)

    def ran(self, what: tuple[str, str], start: int, end: int) -> None:
        kind, prop = what
        times = {"start_ns": start * 1000, "dur_ns": (end - start) * 1000}
        self.add("primitives", kind=kind, prop_kind=prop, impl="jit:avx2", library="oneDNN", **times)

    def linked(self, folder: Path) -> list[tuple[str, str | None, str | None]]:
        query = "SELECT kind, op_name, op_link FROM primitives ORDER BY start_ns, kind"
        return self.open(folder).execute(query).fetchall()


@pytest.mark.long
def test_the_kind_decides_between_threads(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "conv1/Relu:_MklNativeFusedConv2D", 0, 100)
    given.on(2, "fc/BiasAdd:_MklNativeFusedMatMul", 10, 90)  # started last, which counted alone before
    given.ran(CONV, 20, 60)
    given.ran(PRODUCT, 30, 70)
    assert given.linked(tmp_path) == [
        ("convolution", "conv1/Relu:_MklNativeFusedConv2D", "time"),
        ("inner_product", "fc/BiasAdd:_MklNativeFusedMatMul", "time"),
    ]


def test_the_pass_decides_between_two_gradients_at_once(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "gradients/conv1:Conv2DBackpropInput", 0, 100)
    given.on(2, "gradients/conv1:Conv2DBackpropFilter", 5, 100)
    given.ran(DATA, 20, 60)
    given.ran(WEIGHTS, 30, 70)
    assert [row[1] for row in given.linked(tmp_path)] == [
        "gradients/conv1:Conv2DBackpropInput",
        "gradients/conv1:Conv2DBackpropFilter",
    ]


@pytest.mark.slow
def test_an_operator_that_has_its_primitive_leaves_the_other_to_its_neighbour(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "branch_a:Conv2D", 0, 100)
    given.on(2, "branch_b:Conv2D", 50, 200)
    given.ran(CONV, 10, 40)  # only a was running
    given.ran(CONV, 60, 90)  # both were
    assert [row[1] for row in given.linked(tmp_path)] == ["branch_a:Conv2D", "branch_b:Conv2D"]


@pytest.mark.slow
def test_of_two_alike_neither_is_guessed_and_that_is_counted(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "branch_a:Conv2D", 0, 100)
    given.on(2, "branch_b:Conv2D", 5, 100)
    given.ran(CONV, 10, 40)
    given.ran(CONV, 50, 90)
    assert given.linked(tmp_path) == [("convolution", None, "several at once")] * 2
    trouble = given_quality(given, tmp_path)
    assert trouble == [("primitives that several operators at that time may have called", 2)]


def given_quality(given: Threads, folder: Path) -> list[tuple[str, int]]:
    return connected(folder).execute("SELECT kind, n FROM quality ORDER BY ALL").fetchall()


@pytest.mark.slow
def test_a_convolution_is_never_a_matrix_products(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "fc:MatMul", 0, 100)
    given.ran(CONV, 10, 40)
    assert given.linked(tmp_path) == [("convolution", None, "none of its kind")]
    assert given_quality(given, tmp_path) == [("primitives that no operator at that time can have called", 1)]


@pytest.mark.long
def test_a_matrix_product_may_be_a_1x1_convolutions(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "aten::mkldnn_convolution", 0, 100)
    given.ran(PRODUCT, 10, 40)
    assert given.linked(tmp_path) == [("inner_product", "aten::mkldnn_convolution", "time")]


@pytest.mark.slow
def test_a_reorder_belongs_to_what_uses_the_library(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "conv1:Conv2D", 0, 100)
    given.on(2, "AssignSubVariableOp_6:AssignSubVariableOp", 5, 100)
    given.ran(REORDER, 10, 20)
    assert given.linked(tmp_path) == [("reorder", "conv1:Conv2D", "time")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aten::convolution_backward", "ConvolutionBackward0"])
def test_one_backward_operator_may_call_every_pass(tmp_path: Path, name: str) -> None:
    given = Threads()
    given.on(1, name, 0, 100)
    for at, what in enumerate((REORDER, WEIGHTS, DATA)):
        given.ran(what, 10 + 20 * at, 25 + 20 * at)
    assert {row[1:] for row in given.linked(tmp_path)} == {(name, "time")}


@pytest.mark.long
def test_among_callers_that_say_nothing_the_last_to_start_counts(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "my_wrapper", 0, 100)
    given.on(2, "my_worker", 5, 100)
    given.ran(REORDER, 10, 20)
    given.ran(REORDER, 150, 160)
    assert given.linked(tmp_path) == [("reorder", "my_worker", "time"), ("reorder", None, None)]


def test_bare_products_are_of_the_convolution_that_calls_such_elsewhere(tmp_path: Path) -> None:
    """TensorFlow without oneDNN's operators: two gradients run at once, and each is made of many products."""
    given = Threads()
    data, weights = "gradients/conv1:Conv2DBackpropInput", "gradients/conv1:Conv2DBackpropFilter"
    rows: list[tuple[str, int]] = []
    for step, at in enumerate((0, 1000, 2000)):
        given.on(1, data, at, at + 100)
        given.on(2, weights, at + 50 * (step == 0), at + 150)
        given.on(3, "gradients/conv1:BiasAddGrad", at, at + 150)
        for shape, start in (("64x50:50x500", at + 10), ("24x320:320x20", at + 120), ("24x320:320x20", at + 60)):
            times = {"start_ns": start * 1000, "dur_ns": 5000}
            given.add("primitives", kind="gemm_api", prop_kind="undef", shape=shape, library="oneDNN", **times)
            rows.append((data if shape.startswith("64") else weights, start))
    found = given.open(tmp_path).execute("SELECT op_name, start_ns // 1000 FROM primitives ORDER BY 2").fetchall()
    assert found == sorted(rows, key=lambda row: row[1])


@pytest.mark.long
def test_a_bare_product_that_two_convolutions_may_have_called_is_of_neither(tmp_path: Path) -> None:
    given = Threads()
    given.on(1, "conv1:Conv2D", 0, 100)
    given.on(2, "conv2:Conv2D", 0, 100)
    times = {"start_ns": 20_000, "dur_ns": 5000}
    given.add("primitives", kind="gemm_api", prop_kind="undef", shape="8x8:8x8", library="oneDNN", **times)
    found = given.open(tmp_path).execute("SELECT op_name, op_link FROM primitives").fetchall()
    assert found == [(None, "several at once")]


@pytest.mark.slow
@pytest.mark.parametrize(("early_ns", "link"), [(400, "time"), (600, None)])
def test_a_start_may_be_as_early_as_the_stamps_of_the_log_are_apart(
    tmp_path: Path, early_ns: int, link: str | None
) -> None:
    given = Threads()
    given.on(1, "fc/MatMul:_MklMatMul", 10, 100)
    times = {"start_ns": 10_000 - early_ns, "dur_ns": 5_000}
    given.add("primitives", kind="gemm_api", prop_kind="undef", impl="jit:avx2", library="oneDNN", **times)
    assert given.linked(tmp_path) == [("gemm_api", link and "fc/MatMul:_MklMatMul", link)]
