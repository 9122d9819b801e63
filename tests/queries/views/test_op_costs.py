"""Costs of calls: counted once, at the outermost operator that has a model, with the time on the device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from given import Given, conv, conv_backward, rows

SQUARE = [[64, 64], [64, 64]]
FLOP = 2 * 64**3


def product(given: Given, at: float, name: str = "aten::mm", **facts: Any) -> None:
    shapes = {"shapes": json.dumps(SQUARE), "types": '["float", "float"]', "inputs": '["", ""]'}
    given.add("ops", name=name, pid=1, tid=1, start_ns=round(1000 * at), dur_ns=10_000, **shapes, **facts)


def test_a_call_is_counted_once_at_its_outermost_operator(tmp_path: Path) -> None:
    """A linear layer converts its input before the product inside it, which is what counts; alone it counts itself."""
    given = Given()
    given.op("aten::linear", 0, 40, [[64, 64], [64, 64]], ["", ""])
    given.op("aten::copy_", 1, 9, [[64, 64], [64, 64]], ["", ""])
    given.op("aten::mm", 10, 30, SQUARE, ["", ""])
    given.op("aten::linear", 50, 60, [[64, 64], [64, 64]], ["", ""])
    given.op("aten::_softmax", 70, 90, [[64, 64], (), ()], ["", "1", "False"])
    given.op("aten::exp", 75, 80, [[64, 64]])
    query = "SELECT op_name, family, direction, dtype, matrix_flop, vector_flop, bytes, busy_ns FROM op_costs"
    assert rows(given.open(tmp_path), f"{query} ORDER BY op_id") == [
        ("aten::copy_", "copy", "forward", "fp32", 0, 0, 32768, 8000),
        ("aten::mm", "gemm", "forward", "fp32", FLOP, 0, 49152, 20000),
        ("aten::linear", "gemm", "forward", "fp32", FLOP, 0, 49152, 10000),
        ("aten::_softmax", "softmax", "forward", "fp32", 0, 20480, 32768, 20000),
    ]


def test_a_call_has_the_time_of_its_kernels_and_one_that_launched_nothing_is_left_out(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("aten::mm", 0, 40, SQUARE, ["", ""])
    given.kernel("splitKreduce_kernel", 100, 110, launched=30)
    given.kernel("ampere_s1688gemm_128x128_tn", 50, 80, launched=5)
    given.op("aten::mm", 60, 70, SQUARE, ["", ""])
    given.copy("DtoD", 200, 204, launched=150, size_bytes=1000)
    found = rows(
        given.open(tmp_path), "SELECT op_name, dtype, matrix_flop, bytes, busy_ns, how FROM op_costs ORDER BY 1"
    )
    assert found == [
        ("Memcpy DtoD", None, 0, 2000, 4000, "the profiler's record"),
        ("aten::mm", "tf32", FLOP, 49152, 40000, "shapes"),
    ]


@pytest.mark.parametrize(
    ("first", "sequence", "is_recompute"),
    [("aten::mm", 7, True), ("aten::mm", None, False), ("aten::bmm", 7, False)],
    ids=["recorded by autograd", "the gradient itself", "nothing like it before"],
)
def test_what_runs_again_for_the_backward_pass_is_told_from_gradients(
    first: str, sequence: int | None, is_recompute: bool, tmp_path: Path
) -> None:
    given = Given()
    product(given, 0, first)
    within = "autograd::engine::evaluate_function: ReluBackward0"
    given.add("ops", name=within, pid=1, tid=1, start_ns=50_000, dur_ns=60_000, sequence=3, forward_thread=1)
    product(given, 70, sequence=sequence)
    query = "SELECT direction, is_recompute, matrix_flop FROM op_costs WHERE op_name = 'aten::mm' ORDER BY op_id"
    assert rows(given.open(tmp_path), query)[-1] == ("forward" if is_recompute else "backward", is_recompute, FLOP)


Layout = list[list[int]]
UP, DOWN = [[8, 64], [64, 128]], [[8, 128], [128, 64]]
SCORES, VALUES = [[4, 8, 64], [4, 64, 8]], [[4, 8, 8], [4, 8, 64]]
TURNED, PLAIN = [[64, 1], [1, 64]], [[64, 1], [128, 1]]
"""Strides of activations times a weight of torch.nn.Linear, and of gradients times it."""
TURNED_SCORES, PLAIN_VALUES = [[512, 64, 1], [512, 1, 64]], [[64, 8, 1], [512, 64, 1]]
WIDE, WIDE_PLAIN = [[128, 1], [1, 128]], [[128, 1], [64, 1]]
FORWARD = [(UP, TURNED), (DOWN, WIDE)]
GRADIENTS = [(UP, PLAIN), ([[64, 8], [8, 128]], [[1, 64], [128, 1]]), (DOWN, WIDE_PLAIN)]
WEIGHTED = ([[32, 64], [64, 64]], [[64, 1], [64, 1]])
LAYER = ([[32, 64], [64, 64]], [[64, 1], [1, 64]])
BIASED = ([[64], *LAYER[0]], [[1], *LAYER[1]])
ADDED = ([[32, 64], *WEIGHTED[0]], [[64, 1], *WEIGHTED[1]])
ATTENTION = [(SCORES, TURNED_SCORES), (VALUES, PLAIN_VALUES)]


def compiled(given: Given, start: int, calls: list[tuple[Layout, Layout]], is_gradient: bool) -> None:
    """One pass of a compiled graph with these products; of three tensors the first is added."""
    mark = {"forward_thread": 1} if is_gradient else {}
    name = "CompiledFunctionBackward" if is_gradient else "CompiledFunction"
    given.add("ops", name=name, pid=1, tid=1, start_ns=1000 * start, dur_ns=90_000, sequence=5, **mark)
    for place, (shapes, strides) in enumerate(calls):
        facts = {
            "shapes": json.dumps(shapes),
            "strides": json.dumps(strides),
            "types": json.dumps(["float"] * len(shapes)),
        }
        times = {"start_ns": 1000 * (start + 10 * place + 5), "dur_ns": 8000}
        operator = "aten::addmm" if len(shapes) == 3 else "aten::mm" if len(shapes[0]) == 2 else "aten::bmm"
        given.add("ops", name=operator, pid=1, tid=1, inputs=json.dumps([""] * len(shapes)), **facts, **times)


@pytest.mark.parametrize(
    ("forward", "backward", "n"),
    [
        (FORWARD, GRADIENTS, 0),
        (FORWARD, [FORWARD[0], *GRADIENTS], 1),
        # The gradient of the weights has the sizes and strides of the scores, that of the queries those of the result.
        (ATTENTION, ATTENTION, 0),
        (ATTENTION, [*ATTENTION, *ATTENTION], 2),
        # The gradient of a layer with a bias has the sizes and strides of a product with a weight that is not turned.
        ([WEIGHTED, BIASED], [WEIGHTED], 0),
        ([WEIGHTED, BIASED], [BIASED], 1),
        # A residual is added in the product, in a forward pass and in its gradient, where weights are tied.
        ([LAYER, ADDED], [ADDED], 0),
    ],
    ids=["layers", "layers again", "attention", "attention again", "beside a bias", "a bias again", "a residual"],
)
def test_what_compiled_code_runs_again_is_told_by_sizes_and_strides(
    forward: list[tuple[Layout, Layout]], backward: list[tuple[Layout, Layout]], n: int, tmp_path: Path
) -> None:
    """Autograd has no marks within what torch.compile made of a checkpoint."""
    given = Given()
    compiled(given, 0, forward, False)
    compiled(given, 100, backward, True)
    query = """SELECT count(*) FILTER (is_recompute), count(*) FILTER (direction = 'backward') FROM op_costs
        WHERE family = 'gemm'"""
    assert rows(given.open(tmp_path), query) == [(n, len(backward) - n)]


def test_two_backward_passes_over_one_forward_pass_of_compiled_code_compute_nothing_again(tmp_path: Path) -> None:
    """Two losses, the first with retain_graph: each pass may have all gradients."""
    given = Given()
    compiled(given, 0, ATTENTION, False)
    compiled(given, 100, ATTENTION, True)
    compiled(given, 200, ATTENTION, True)
    query = "SELECT direction, count(*), bool_or(is_recompute) FROM op_costs WHERE family = 'gemm' GROUP BY ALL"
    assert sorted(rows(given.open(tmp_path), query)) == [("backward", 4, False), ("forward", 2, False)]


@pytest.mark.parametrize(("name", "is_recompute"), [("aten::addmm", True), ("aten::mm", False)])
def test_without_strides_what_may_be_a_gradient_is_one(name: str, is_recompute: bool, tmp_path: Path) -> None:
    """A product with a bias is no gradient; of two layers one's gradient has the sizes of the other."""
    given = Given()
    sizes = [[[128], *UP], [[64], *DOWN]] if is_recompute else [UP, DOWN]
    for start, calls, within in ((0, sizes, "CompiledFunction"), (100, sizes[:1], "CompiledFunctionBackward")):
        mark = {"forward_thread": 1} if start else {}
        given.add("ops", name=within, pid=1, tid=1, start_ns=1000 * start, dur_ns=90_000, sequence=5, **mark)
        for place, shapes in enumerate(calls):
            given.op(name, start + 10 * place + 5, start + 10 * place + 13, shapes, [""] * len(shapes))
    query = "SELECT is_recompute FROM op_costs WHERE family = 'gemm' ORDER BY op_id"
    assert [again for (again,) in rows(given.open(tmp_path), query)] == [False, False, is_recompute]


def test_a_convolution_without_recorded_values_has_what_its_other_pass_tells(tmp_path: Path) -> None:
    """Nothing is counted twice: the shapes of conv_calls stand in only where no operator inside has a cost."""
    given = Given()
    conv(given, 0, (2, 3, 8, 8), (4, 3, 3, 3))
    conv_backward(given, 20, (2, 3, 8, 8), (4, 3, 3, 3), (2, 4, 6, 6))
    given.op("aten::convolution", 40, 50, [(2, 3, 8, 8), (4, 3, 3, 3)])
    connection = given.open(tmp_path)
    flop = 2 * 4 * 27 * 2 * 36
    query = "SELECT op_name, matrix_flop, how FROM op_costs ORDER BY op_id"
    assert rows(connection, query) == [
        ("aten::convolution", flop, "shapes"),
        ("aten::convolution_backward", 2 * flop, "shapes"),
        ("aten::convolution", flop, "shapes of the library, the compiled program or the other pass"),
    ]


def test_element_size_of_a_list_is_that_of_its_kernel(tmp_path: Path) -> None:
    given = Given()
    shapes, types = "[[[4,6],[4,2]],[]]", '["TensorList","Scalar"]'
    given.add("ops", name="aten::cat", pid=1, tid=1, start_ns=0, dur_ns=9000, shapes=shapes, types=types)
    given.kernel("CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 2>", 20, 25, launched=3)
    assert rows(given.open(tmp_path), "SELECT bytes, how FROM op_costs") == [(128, "shapes")]


def test_an_operator_of_unknown_cost_stands_for_what_it_does_besides_the_calls_inside(tmp_path: Path) -> None:
    """Attention without the lengths of its sequences, and a product within it."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("vllm::unified_attention_with_output", 0, 60, [[8, 4, 64]] * 4, [""] * 4)
    given.op("aten::mm", 10, 20, SQUARE, ["", ""])
    given.kernel("ampere_sgemm_128x128_tn", 100, 130, launched=15)
    given.kernel("flash_fwd_kernel", 130, 135, launched=30)
    query = "SELECT op_name, matrix_flop, busy_ns, reason IS NULL FROM op_costs ORDER BY op_name"
    assert rows(given.open(tmp_path), query) == [
        ("aten::mm", FLOP, 30000, True),
        ("vllm::unified_attention_with_output", None, 5000, False),
    ]


def test_bytes_of_a_collective_are_those_on_the_wire(tmp_path: Path) -> None:
    given = Given()
    given.collective("all_reduce", 0, 10, kind="all_reduce", size_bytes=1000, group_size=4)
    given.collective("barrier", 20, 30, kind="barrier")
    found = rows(given.open(tmp_path), "SELECT op_name, bytes, reason FROM op_costs ORDER BY 1")
    assert found == [("all_reduce", 1500, None), ("barrier", None, "bytes or ranks are not recorded")]


@pytest.mark.slow
def test_what_a_product_launches_of_communication_is_not_its_time(tmp_path: Path) -> None:
    """A product of distributed tensors gathers them itself: 10 us of gemm, 65 us of NCCL in each of two steps."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for at in (0, 100):
        given.span("step", f"step#{at}", at, at + 90)
        given.op("aten::mm", at, at + 8, SQUARE, ["", ""])
        given.kernel("ampere_sgemm_128x128_tn", at + 10, at + 20, launched=at + 2, id=6000 + at)
        given.kernel("ncclDevKernel_AllGather_RING_LL(int)", at + 20, at + 85, at + 5, stream=9, id=7000 + at)
        facts = {"kind": "allgather", "kernel_id": 7000 + at, "size_bytes": 400, "group_size": 4}
        given.collective("ncclDevKernel_AllGather_RING_LL(int)", at + 20, at + 85, **facts)
    with given.open(tmp_path) as connection:
        found = rows(connection, "SELECT DISTINCT family, matrix_flop, busy_ns FROM op_costs ORDER BY 1")
        assert found == [("collective", 0, 65_000), ("gemm", FLOP, 10_000)]
        query = "SELECT total_ns, covered_ns, unknown_ns, covered_pct FROM covered"
        assert rows(connection, query) == [(150_000, 150_000, 0, 100)]


def test_a_product_of_a_cpu_does_not_wait_for_what_it_gathers(tmp_path: Path) -> None:
    """30 us of the outer call are the inner product and 5 its own; 40 are the collective and waiting for it."""
    given = Given()
    given.op("aten::mm", 0, 75, SQUARE, ["", ""])
    given.op("_c10d_functional::all_gather_into_tensor", 0, 10)
    given.op("_c10d_functional::wait_tensor", 10, 40)
    given.op("aten::mm", 40, 70, SQUARE, ["", ""])
    given.collective("gloo:all_gather", 2, 38, kind="all_gather", size_bytes=400, group_size=2)
    found = rows(given.open(tmp_path), "SELECT op_name, matrix_flop, busy_ns FROM op_costs ORDER BY 1")
    assert found == [("aten::mm", FLOP, 35_000), ("gloo:all_gather", 0, 36_000)]


@pytest.mark.parametrize(
    ("kind", "spelled", "sent"),
    [
        ("allreduce", "all_reduce", 600),
        ("AllReduce", "all_reduce", 600),
        ("_allgather_base", "all_gather", 1200),
        ("_reduce_scatter_base", "reduce_scatter", 300),
        ("all_to_allv", "all_to_all", 300),
        ("sendrecv", "send_recv", 400),
        ("Broadcast", "broadcast", 400),
    ],
)
def test_a_collective_costs_the_same_in_every_spelling(tmp_path: Path, kind: str, spelled: str, sent: int) -> None:
    """Bytes that one of four ranks has to send of its 400: an `allreduce` had those of a broadcast."""
    given = Given()
    given.collective(f"gloo:{kind}", 10, 90, kind=kind, size_bytes=400, group_size=4)
    connection = given.open(tmp_path)
    assert rows(connection, "SELECT bytes FROM op_costs") == [(sent,)]
    assert rows(connection, "SELECT kind FROM collectives") == rows(connection, "SELECT what FROM exchanges")
    assert rows(connection, "SELECT kind FROM collectives") == [(spelled,)]


def test_an_exchange_beside_a_product_covers_what_operators_send(tmp_path: Path) -> None:
    """A CPU starts an all-reduce of 80 us in 5, which threads of gloo do while it multiplies for 95."""
    given = Given()
    given.op("c10d::allreduce_", 0, 5)
    given.op("aten::mm", 5, 100, SQUARE, ["", ""])
    given.collective("gloo:all_reduce", 10, 90, kind="all_reduce", size_bytes=400, group_size=2)
    assert rows(given.open(tmp_path), "FROM covered") == [(0, 100_000, 100_000, 0, 100)]


@pytest.mark.slow
def test_recomputation_of_a_public_trace(shared: Path, captures: Any) -> None:
    """Facts of traces beside the models: 57 of 117 convolutions, 4,210 us, 24.2 % of the FLOP of products."""
    connection = captures.open(shared / "traces/operators/mi300-resnet-checkpoint.json.gz")
    query = """SELECT sum(busy_ns) FILTER (is_recompute), sum(matrix_flop) FILTER (is_recompute), sum(matrix_flop),
        count(*) FILTER (op_name = 'aten::convolution'),
        count(*) FILTER (op_name = 'aten::convolution' AND is_recompute)
        FROM op_costs"""
    assert rows(connection, query) == [(4209958, 101732843520, 421185208320, 117, 57)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trace", "flop", "covered"),
    [
        ("h100-bert-forward", 8192059392, 1),
        ("h100-vit-forward", 140509200384, 1),
        ("h100-qwen-decode", 5760721390528, 0.7004),
        ("mi-normalization", 0, 1),
        ("triton-compile", 5497558138880, 1),
        pytest.param("h100-timesformer-forward", 8977103314944, 1, marks=pytest.mark.long),
        pytest.param(
            "mi300-sglang-prefill", 213392645160960 + 36 * 2 * 32 * 15 * 524800 * 256, 0.9999, marks=pytest.mark.long
        ),
    ],
)
def test_flop_and_coverage_of_public_traces(trace: str, flop: int, covered: float, shared: Path, captures: Any) -> None:
    """FLOP are those of an independent count, and of attention over 15 prompts of 1,024; a share of all device time."""
    connection = captures.open(shared / f"traces/operators/{trace}.json.gz")
    query = """SELECT sum(matrix_flop), sum(busy_ns) FILTER (reason IS NULL)
        / (SELECT sum(dur_ns) FROM performed) FROM op_costs"""
    [(found, share)] = rows(connection, query)
    assert found == flop and share == pytest.approx(covered, abs=1e-3)


@pytest.mark.slow
def test_products_and_convolutions_are_those_of_the_views_of_shapes(shared: Path, captures: Any) -> None:
    connection = captures.open(shared / "traces/kineto/mi300-resnet18-train.json.gz")
    query = "SELECT sum(matrix_flop) FILTER (family = 'conv'), sum(matrix_flop) FILTER (family = 'gemm') FROM op_costs"
    [found] = rows(connection, query)
    assert found == rows(connection, "SELECT sum(flop), (SELECT sum(flop) FROM matmul_shapes) FROM conv_calls")[0]
    assert found[0] == 27252070809600


def test_under_vmap_the_operator_that_runs_counts(tmp_path: Path) -> None:
    """Those around it are recorded with the sizes of one sample."""
    given = Given()
    one, all_samples = [(4, 5), (5, 6)], [(3, 4, 5), (3, 5, 6)]
    given.op("aten::mm", 0, 40, one, ["", ""])
    given.op("aten::mm", 2, 38, one, ["", ""])
    given.op("aten::bmm", 4, 36, all_samples, ["", ""])
    given.op("aten::relu", 50, 60, [(4, 5)])
    given.op("aten::relu", 51, 59, [(3, 4, 5)])
    given.op("aten::mm", 60, 70, one, ["", ""])
    query = "SELECT op_name, matrix_flop, bytes FROM op_costs ORDER BY op_id"
    assert rows(given.open(tmp_path), query) == [
        ("aten::bmm", 720, 4 * 3 * (20 + 30 + 24)),
        ("aten::relu", 0, 8 * 60),
        ("aten::mm", 240, 4 * (20 + 30 + 24)),
    ]


def test_of_a_tensor_subclass_the_part_that_this_rank_computes_counts(tmp_path: Path) -> None:
    """A DTensor's operators are recorded with the sizes of the whole, also where several stand in each other; an
    operator of a subclass that runs no product keeps its own."""
    given = Given()
    whole, part = [(1024,), (128, 256), (256, 1024)], [(512,), (128, 256), (256, 512)]
    given.op("aten::linear", 0, 60, [(128, 256), (1024, 256), (1024,)], ["", "", ""])
    given.op("aten::addmm", 5, 55, whole, ["", "", ""])
    given.op("PythonSubclass", 6, 54, whole)
    given.op("aten::div", 10, 12, [(512,), ()], ["", "2"])
    given.op("aten::addmm", 20, 50, part, ["", "", ""])
    given.op("aten::copy_", 22, 24, [(128, 512), (128, 512)], ["", ""])
    given.op("aten::add_", 70, 90, [(1024, 256), (1024, 256)], ["", ""])
    given.op("PythonSubclass", 71, 89, [(1024, 256), (1024, 256)])
    given.op("aten::add_", 80, 88, [(512, 256), (512, 256)], ["", ""])
    given.op("aten::mm", 100, 120, SQUARE, ["", ""])
    given.op("PythonSubclass", 101, 119, SQUARE)
    given.op("aten::exp", 105, 110, [(64, 64)])
    query = "SELECT op_name, matrix_flop, bytes, busy_ns FROM op_costs ORDER BY op_id"
    product = 2 * 128 * 256 * 512
    assert rows(given.open(tmp_path), query) == [
        ("aten::div", 0, 4 * 2 * 512, 2000),
        ("aten::addmm", product, 4 * (512 + 128 * 256 + 256 * 512 + 128 * 512), 30000),
        ("aten::add_", 0, 4 * 3 * 512 * 256, 8000),
        ("aten::mm", FLOP, 49152, 20000),
    ]


def test_a_tensor_without_strides_is_not_dense(tmp_path: Path) -> None:
    """How many elements of a sparse one are stored is not recorded; where no strides are recorded nothing is said."""
    given = Given()
    for number, strides in enumerate(("[[],[5,1]]", "[[20,1],[5,1]]", None)):
        given.op("aten::mm", 20 * number, 20 * number + 10, [(20, 20), (20, 5)], ["", ""])
        given.rows["ops"][-1]["strides"] = strides
    query = "SELECT matrix_flop, bytes, reason FROM op_costs ORDER BY op_id"
    reason = "a tensor is not dense: how much of it is stored is not recorded"
    known = (4000, 4 * (400 + 100 + 100), None)
    assert rows(given.open(tmp_path), query) == [(None, None, reason), known, known]


@pytest.mark.parametrize(("inside", "computed"), [("aten::expand", 2), ("aten::detach", 1)])
def test_recomputation_ends_within_the_last_operator(inside: str, computed: int, tmp_path: Path) -> None:
    """Checkpointing stops it as soon as all is there that the backward pass needs, before that operator computes."""
    given = Given()
    product(given, 0)
    given.op("aten::expand", 1, 2)
    within = "autograd::engine::evaluate_function: ReluBackward0"
    given.add("ops", name=within, pid=1, tid=1, start_ns=50_000, dur_ns=60_000, sequence=3, forward_thread=1)
    product(given, 70, sequence=7)
    given.op(inside, 71, 72)
    query = "SELECT sum(matrix_flop) FROM op_costs WHERE op_name = 'aten::mm'"
    assert rows(given.open(tmp_path), query) == [(computed * FLOP,)]


def test_primitives_of_a_log_alone_have_costs(root: Path, captures: Any) -> None:
    """Two steps of AlexNet, batch 4: three fully connected layers, as many FLOP again for each gradient; pooling."""
    connection = captures.open(root / "samples/onednn/onednn-3.7.3-tensorflow-alexnet-cpu.log.gz")
    layers = 2 * 2 * 4 * (9216 * 4096 + 4096 * 4096 + 4096 * 1000)
    query = "SELECT sum({}) FROM op_costs WHERE op_name = 'onednn::{}' AND direction IS DISTINCT FROM 'backward'"
    assert rows(connection, query.format("matrix_flop", "inner_product")) == [(layers,)]
    assert rows(connection, query.format("matrix_flop", "gemm_api")) == [(2 * layers,)]
    pooled = 96 * (55 * 55 + 27 * 27) + 256 * (27 * 27 + 13 * 13) + 256 * (13 * 13 + 6 * 6)
    assert rows(connection, query.format("bytes", "pooling")) == [(2 * 4 * 4 * pooled,)]
    directions = rows(connection, "SELECT DISTINCT direction FROM op_costs WHERE op_name = 'onednn::gemm_api'")
    assert directions == [(None,)], "the log says nothing of it, and these are gradients"
    whole = "SELECT (SELECT sum(busy_ns) FROM op_costs) = sum(dur_ns) FROM primitives"
    assert rows(connection, whole) == [(True,)]


def test_primitives_of_an_operator_with_a_cost_count_with_it(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::linear", 0, 40, [(4, 32), (16, 32)], ["", ""])
    formats = "src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 dst:f32::blocked:ab::f0"
    given.primitive("inner_product", 5, 30, shape="mb4ic32oc16", formats=formats)
    given.op("SomethingElse", 50, 90)
    given.primitive("inner_product", 55, 80, shape="mb4ic32oc16", formats=formats)
    query = "SELECT op_name, matrix_flop, how FROM op_costs ORDER BY op_name"
    assert rows(given.open(tmp_path), query) == [
        ("aten::linear", 4096, "shapes"),
        ("onednn::inner_product", 4096, "oneDNN's log"),
    ]


@pytest.mark.parametrize("shape", ["mb*ic32oc16", "ic32oc16", "mb4", "4x*", "", "mb4mb4ic32oc16"])
def test_a_primitive_whose_sizes_are_not_known_has_no_cost(shape: str, tmp_path: Path) -> None:
    given = Given()
    given.primitive("inner_product", 0, 30, shape=shape, formats="src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0")
    query = "SELECT op_name, matrix_flop, bytes, reason IS NULL FROM op_costs"
    assert rows(given.open(tmp_path), query) == [("onednn::inner_product", None, None, False)]


@pytest.mark.parametrize(
    ("kernel", "dtype", "expected"),
    [
        ("ampere_s1688gemm_128x128_ldg8_f2f_tn", "float", "tf32"),
        ("turing_fp16_s1688gemm_fp16_128x256_ldg8_f2f_nt", "c10::Half", "fp16"),
        ("turing_fp16_s1688gemm_fp16_128x256_ldg8_f2f_nt", "float", "fp32"),
        ("cutlass_80_tensorop_f16_s1688gemm_f16_256x64_nn_align2", "float", "fp32"),
        ("cutlass_75_tensorop_s1688gemm_bf16_64x64_tn_align1", "float", "fp32"),
        ("cutlass_tensorop_s1688gemm_f16_256x128_32x2_nn_align8", "float", "fp32"),
        ("cutlass_tensorop_s1688fprop_optimized_f16_256x128_32x2_nhwc_align8", "float", "fp32"),
        ("cutlass_tensorop_s1688fprop_optimized_tf32_128x128_32x4_nhwc_align4", "float", "tf32"),
        ("cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4", "c10::BFloat16", "bf16"),
        ("Cijk_Alik_Bljk_S_MX_B_Bias_AS_SAV_UserArgs_MT256x256x32_MI16x16x1_ISA942", "float", "tf32"),
        ("Cijk_Alik_Bljk_S_B_Bias_AS_SAV_UserArgs_MT256x256x32_MI16x16x1_ISA942", "float", "fp32"),
    ],
)
def test_only_single_precision_on_ampere_and_later_is_tf32(
    kernel: str, dtype: str, expected: str, tmp_path: Path
) -> None:
    given = Given()
    given.op("aten::mm", 0, 10, SQUARE, ["", ""], dtype=dtype)
    given.kernel(kernel, 12, 20, launched=5)
    assert rows(given.open(tmp_path), "SELECT dtype FROM op_costs") == [(expected,)]


def test_a_negative_cost_is_none(tmp_path: Path) -> None:
    """A damaged padding would make an output of fewer than no elements."""
    given = Given()
    conv(given, 0, (1, 3, 8, 8), (4, 3, 3, 3), padding=[-9, 0])
    conv(given, 20, (1, 3, 8, 8), (4, 3, 3, 3))
    costs = rows(given.open(tmp_path), "SELECT matrix_flop, bytes FROM op_costs WHERE matrix_flop IS NOT NULL")
    assert costs == [(2 * 4 * 6 * 6 * 3 * 9, 4 * (3 * 64 + 4 * 3 * 9 + 4 + 4 * 36))]


def test_jax_names_what_it_computes_again_and_where_xla_found_it_the_same_it_is_the_first(tmp_path: Path) -> None:
    """Two layers in a checkpoint: of `b` only the computation of the backward pass is left."""
    given = Given()
    again = "jit(f)/transpose(jvp(jvp()))/checkpoint/rematted_computation"
    gradient = "jit(f)/transpose(jvp(jvp()))/checkpoint/a"
    for at, path in enumerate(("jit(f)/jvp(a)", f"{again}/a", f"{again}/b", gradient)):
        facts = {"shapes": json.dumps(SQUARE), "types": '["f32", "f32"]', "output_shapes": "[[64, 64]]"}
        facts |= {
            "hlo_kind": "dot",
            "hlo_cost": json.dumps([FLOP, 0, 100, ""]),
            "module_hierarchy": path[-2:].strip("(/)"),
        }
        given.add("ops", name=f"{path}/dot_general", pid=1, tid=1, start_ns=at * 10_000, dur_ns=5_000, **facts)
    query = "SELECT op_name, is_recompute, direction, matrix_flop FROM op_costs ORDER BY op_id"
    found = rows(given.open(tmp_path), query)
    assert [(recomputed, flop) for _, recomputed, _, flop in found] == [
        (False, FLOP), (True, FLOP), (False, FLOP), (False, FLOP),
    ]  # fmt: skip
    assert (found[1][2], found[3][2]) == ("forward", "backward")
