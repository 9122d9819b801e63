"""Layers of the backward pass; operators that frameworks mark as NVTX ranges: names as four of them write these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from given import Given, rows
from timelines import event, made

FPROP = "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1>"
WGRAD = "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>"
CONV = "aten::conv2d, seq = 5, op_id = 9, sizes = [[8, 3, 32, 32], [6, 3, 5, 5], [6]]"


def ranges(*named: tuple[Any, ...]) -> Given:
    """Ranges by name, start, end and, where it is not 1, thread; None is a domain's place."""
    given = Given()
    for name, start, end, *more in named:
        thread = more[0] if more else 1
        domain = more[1] if len(more) > 1 else None
        facts = {"kind": "nvtx", "domain": domain, "pid": 1, "tid": thread}
        given.add("ranges", name=name, start_ns=start * 1000, dur_ns=(end - start) * 1000, **facts)
    return given


OPERATORS = (
    (CONV, "aten::conv2d", [[8, 3, 32, 32], [6, 3, 5, 5], [6]]),
    ("aten::mm, seq = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [[3,0], [4,0]]", "aten::mm", [[2, 3], [3, 4]]),
    ("aten::t, op_id = 3", "aten::t", None),
    ("aten::relu_", "aten::relu_", None),
    ("conv2d, seq = 0", "aten::conv2d", None),
    ("mm, seq = 0, sizes = [[2, 3], [3, 4]]", "aten::mm", [[2, 3], [3, 4]]),
    ("torch::autograd::AccumulateGrad", "torch::autograd::AccumulateGrad", None),
    ("AddmmBackward, seq = 3", "AddmmBackward", None),
    (
        "autograd::engine::evaluate_function: ConvolutionBackward0, seq = 5, op_id = 77",
        "autograd::engine::evaluate_function: ConvolutionBackward0",
        None,
    ),
    (
        "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape': "
        "(8, 3, 9, 9), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (6,), 'dtype': 'float16'}, "
        "{'name': '', 'type': 'NoneType', 'value': None}]}",
        "torch.nn.functional.conv2d",
        [[8, 3, 9, 9], [6], []],
    ),
    ("{'mod': 'Tensor', 'op': 'add_', 'args': [{'name': '', 'shape': (2", "torch.Tensor.add_", None),
)
"""The name of a range, of its operator, and the shapes that it tells."""
OTHERS = (
    "forward, op_id = 5",
    "my loss",
    "Epoch 1",
    "std::sort",
    "ExecutionContext::execute",
    "conv1/Conv2D: it is no domain of TensorFlow",
    "{'traceMarker': ['train.py:3']}",
    "{'mod': 'Conv2d', 'strRepr': '3, 6'}",
    "seq = 5",
    "",
)


@pytest.mark.slow
def test_what_a_range_says_of_its_operator(tmp_path: Path) -> None:
    given = ranges(*((name, 20 * at, 20 * at + 10) for at, (name, _, _) in enumerate(OPERATORS)))
    found = rows(given.open(tmp_path), "SELECT name, shapes FROM ops ORDER BY start_ns")
    assert [(named, json.loads(said) if said else None) for named, said in found] == [
        (operator, shapes) for _, operator, shapes in OPERATORS
    ]


@pytest.mark.slow
def test_other_ranges_are_no_operators(tmp_path: Path) -> None:
    with ranges(*((name, 20 * at, 20 * at + 10) for at, name in enumerate(OTHERS))).open(tmp_path) as connection:
        assert rows(connection, "FROM ops") == []
        assert rows(connection, "SELECT name FROM ranges ORDER BY start_ns") == [(name,) for name in OTHERS]


@pytest.mark.slow
def test_operators_nest_launch_and_are_joined_to_their_gradients(tmp_path: Path) -> None:
    given = ranges(
        ("forward, op_id = 1", 0, 50),
        (CONV, 10, 40),
        ("aten::cudnn_convolution, seq = 5, op_id = 10", 15, 35),
        ("autograd::engine::evaluate_function: ConvolutionBackward0, seq = 5, op_id = 20", 100, 150, 2),
        ("aten::convolution_backward, seq = 8, op_id = 21", 105, 145, 2),
    )
    given.span("module", "conv1", 5, 45)
    given.kernel(FPROP, 22, 30, launched=20)
    given.kernel(WGRAD, 122, 130)
    given.add("api_calls", name="cudaLaunchKernel", kind="runtime", correlation=given.correlation, pid=1, tid=2,
              start_ns=120_000, dur_ns=1000)  # fmt: skip
    with given.open(tmp_path) as connection:
        query = "SELECT name, op_name, layer, direction, call_id IS NOT NULL FROM kernels ORDER BY start_ns"
        assert rows(connection, query) == [
            (FPROP, "aten::cudnn_convolution", "conv1", "fprop", True),
            (WGRAD, "aten::convolution_backward", "conv1", "wgrad", True),
        ]
        query = "SELECT o.name, p.name, o.is_backward FROM ops o JOIN ops p ON p.id = o.parent_id ORDER BY o.start_ns"
        assert rows(connection, query) == [
            ("aten::cudnn_convolution", "aten::conv2d", False),
            ("aten::convolution_backward", "autograd::engine::evaluate_function: ConvolutionBackward0", True),
        ]
        # The forward call's shapes and FLOPs are the gradient's too; no stride is recorded.
        query = (
            "SELECT direction, input_shape, filter_shape, forward_call IS NOT NULL FROM conv_calls ORDER BY start_ns"
        )
        assert rows(connection, query) == [
            ("fprop", [8, 3, 32, 32], [6, 3, 5, 5], False),
            ("wgrad", None, None, True),
        ]


@pytest.mark.long
def test_pyprofs_arguments_say_stride_and_padding(tmp_path: Path) -> None:
    tensor = "{{'name': '', 'type': 'tensor', 'shape': {}, 'dtype': 'float16'}}"
    two = "{{'name': '', 'type': 'tuple', 'value': ({0}, {0})}}"
    args = [tensor.format((4, 3, 9, 9)), tensor.format((8, 3, 3, 3)), "{'name': '', 'type': 'NoneType', 'value': None}",
            two.format(2), two.format(1), two.format(1), "{'name': '', 'type': 'int', 'value': 1}"]  # fmt: skip
    given = ranges(
        (f"{{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{', '.join(args)}]}}", 0, 50),
        ("aten::conv2d, seq = 5", 10, 40),
    )
    given.kernel(FPROP, 22, 30, launched=20)
    query = "SELECT op_name, stride, padding, output_shape, element_bytes, flop FROM conv_calls"
    flop = 2 * 8 * 3 * 9 * 4 * 5 * 5
    assert rows(given.open(tmp_path), query) == [("torch.nn.functional.conv2d", [2, 2], [1, 1], [4, 8, 5, 5], 2, flop)]


@pytest.mark.long
def test_tensorflows_operators_have_scopes_as_layers(tmp_path: Path) -> None:
    core = "tensorflow-core"
    given = ranges(
        ("Conv2D: net/conv1/Conv2D", 0, 10, 1, core),
        ('{"op":"Conv2DBackpropFilter","name":"gradients/net/conv1/Conv2D_grad/Conv2DBackpropFilter","args":'
         '[{"name":"x","shape":[8,32,32,3]},null],"attrs":{"padding":"SAME"}}', 20, 30, 1, core),
        ("NoOp: done", 40, 50, 1, core),
    )  # fmt: skip
    with given.open(tmp_path) as connection:
        query = "SELECT name, layer, category, direction, is_backward, shapes FROM ops ORDER BY start_ns"
        assert rows(connection, query) == [
            ("net/conv1/Conv2D:Conv2D", "net/conv1", "conv", "fprop", False, None),
            (
                "gradients/net/conv1/Conv2D_grad/Conv2DBackpropFilter:Conv2DBackpropFilter",
                "net/conv1",
                "conv",
                "wgrad",
                True,
                "[[8,32,32,3],[]]",
            ),
            ("done:NoOp", None, "bookkeeping", None, False, None),
        ]


@pytest.mark.slow
def test_layers_of_an_engine_are_operators_of_the_kind_of_the_first_in_them(tmp_path: Path) -> None:
    fused, copied = "/conv1/Conv + /relu/Relu", "Reformatting CopyNode for Input Tensor 0 to /conv1/Conv + /relu/Relu"
    given = ranges(
        ("ExecutionContext::execute", 0, 50, 1, "TensorRT"),
        (copied, 1, 10, 1, "TensorRT"),
        (fused, 11, 20, 1, "TensorRT"),
        ("fc1_7", 21, 30, 1, "TensorRT"),
        (fused, 60, 70),
    )
    given.kernel("void genericReformat::copyVectorizedKernel<double>(int)", 52, 53, launched=5)
    given.kernel(
        "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_execute_kernel_trt", 54, 60, launched=15
    )
    with given.open(tmp_path) as connection:
        query = "SELECT name, layer, category FROM ops ORDER BY start_ns"
        assert rows(connection, query) == [
            (f"{copied}:Reformat", copied, "other"),
            (f"{fused}:Conv", fused, "conv"),
            ("fc1_7:fc1", "fc1_7", "gemm"),
        ]
        query = "SELECT layer, direction, algorithm FROM conv_calls"
        assert rows(connection, query) == [(fused, "fprop", "implicit_gemm")]


@pytest.mark.slow
def test_layers_of_an_engine_whose_device_was_not_recorded_are_no_work_of_a_cpu(tmp_path: Path) -> None:
    given = ranges(("/conv1/Conv + /relu/Relu", 11, 20, 1, "TensorRT"))
    with given.open(tmp_path) as connection:
        assert rows(connection, "FROM ops") == rows(connection, "FROM activities") == []


@pytest.mark.slow
def test_a_trace_with_operators_of_its_own_gets_no_others(tmp_path: Path) -> None:
    given = ranges((CONV, 0, 10))
    given.op("aten::add", 20, 30)
    assert rows(given.open(tmp_path), "SELECT name FROM ops") == [("aten::add",)]


def test_hostile_names_cost_no_more_than_their_shapes(tmp_path: Path) -> None:
    given = ranges(
        ("aten::mm, seq = 99999999999999999999999, sizes = [[1, 2", 0, 1),
        ("{'mod': 'torch', 'op': 'mm', 'args': 5}", 2, 3),
        ("{'mod': 'torch', 'op': 'mm', 'args': [{'shape': 'x'}, 3, [[[[]]]]]}", 4, 5),
        ("aten::mm, sizes = " + "[" * 5000, 6, 7),
    )
    query = "SELECT name, sequence, shapes FROM ops ORDER BY start_ns"
    assert rows(given.open(tmp_path), query) == [
        ("aten::mm", None, None),
        ("torch.mm", None, None),
        ("torch.mm", None, "[[],[],[]]"),
        ("aten::mm", None, None),
    ]


@pytest.mark.slow
def test_numbers_that_two_threads_counted_lead_where_the_arrow_comes_from(tmp_path: Path) -> None:
    """A checkpoint runs its module again on the thread of the backward pass, which counts from there on by itself."""
    own, again = {"Sequence number": 5, "Fwd thread id": 1}, {"Sequence number": 5, "Fwd thread id": 2}
    events = [
        event("user_annotation", "nn.Module: a", 100, 100, 1),
        event("cpu_op", "aten::addmm", 110, 50, 1, **{"Sequence number": 5}),
        event("user_annotation", "nn.Module: b", 410, 50, 2),
        event("cpu_op", "aten::addmm", 420, 30, 2, **{"Sequence number": 5}),
        event("cpu_op", "AddmmBackward0", 500, 90, 2, **again),
        event("cpu_op", "AddmmBackward0", 700, 90, 2, **own),
    ]
    arrows = [
        {"ph": end, "cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": 70, "tid": tid, "ts": at}
        for number, ends in enumerate(((("s", 1, 110), ("f", 2, 700)), (("s", 2, 420), ("f", 2, 500))))
        for end, tid, at in ends
    ]
    query = "SELECT layer FROM ops WHERE name = 'AddmmBackward0' ORDER BY start_ns"
    with made(tmp_path / "arrows", [*events, *arrows]) as connection:
        assert rows(connection, query) == [("b",), ("a",)]
    with made(tmp_path / "none", events) as connection:
        assert rows(connection, query) == [(None,), (None,)]


@pytest.mark.slow
def test_a_backward_pass_inside_a_module_is_of_what_it_differentiates(tmp_path: Path) -> None:
    """A penalty asks for gradients in its forward pass, and those of them; what runs again is of its module."""
    events = [
        event("user_annotation", "nn.Module: penalty", 0, 1000),
        event("user_annotation", "nn.Module: critic", 10, 100),
        event("cpu_op", "aten::mm", 20, 50, **{"Sequence number": 1}),
        event("cpu_op", "MmBackward0", 200, 100, **{"Sequence number": 1, "Fwd thread id": 1}),
        event("cpu_op", "aten::mm", 210, 20, **{"Sequence number": 7}),
        event("user_annotation", "nn.Module: again", 240, 40),
        event("cpu_op", "aten::relu", 250, 20),
        event("cpu_op", "MmBackward0", 1200, 100, 9, **{"Sequence number": 7, "Fwd thread id": 1}),
        event("cpu_op", "aten::mm", 1210, 20, 9),
    ]
    with made(tmp_path, events) as connection:
        found = rows(connection, "SELECT name, layer FROM ops ORDER BY start_ns")
    critic = [(name, "critic") for name in ("aten::mm", "MmBackward0", "aten::mm")]
    assert found == [*critic, ("aten::relu", "again"), ("MmBackward0", "critic"), ("aten::mm", "critic")]


def test_gradients_that_autograd_records_are_of_their_forward_operators(tmp_path: Path) -> None:
    """With create_graph a gradient's own operators have numbers, as those that a checkpoint runs again."""
    events = [
        event("cpu_op", "aten::tanh", 20, 50, **{"Sequence number": 1}),
        event("cpu_op", "TanhBackward0", 200, 100, **{"Sequence number": 1, "Fwd thread id": 1}),
        event("cpu_op", "aten::tanh_backward", 210, 20, **{"Sequence number": 7}),
        event("cpu_op", "aten::mul", 250, 20, **{"Sequence number": 8}),
    ]
    with made(tmp_path, events) as connection:
        found = rows(connection, "SELECT o.name, f.name FROM ops o JOIN ops f ON f.id = o.forward_id ORDER BY o.id")
    assert found == [(name, "aten::tanh") for name in ("TanhBackward0", "aten::tanh_backward", "aten::mul")]
