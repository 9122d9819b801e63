"""Kernels belong to the operator of their one launch, those that a graph replays to the operators of its capture."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows, section
from timelines import event, made

LINKS = "SELECT name, op_name, layer, op_link FROM kernels ORDER BY start_ns"


def call(given: Given, name: str, at: float, **facts: object) -> None:
    given.add("api_calls", name=name, kind="runtime", pid=1, tid=1, start_ns=1000 * at, dur_ns=500, **facts)


def captured(given: Given, at: int, layer: str, names: tuple[str, ...], is_named: bool, apart: int = 10) -> None:
    """A capture of one launch in each of these operators, `aten::NAME`."""
    given.span("module", f"{layer} (Layer)", at, at + 90)
    call(given, "cudaStreamBeginCapture", at + 1)
    for place, name in enumerate(names, 1):
        given.op(f"aten::{name}", at + apart * place, at + apart * place + apart - 2)
        call(given, "cudaLaunchKernel", at + apart * place + 2, **({"kernel_name": name} if is_named else {}))
    call(given, "cudaStreamEndCapture", at + 85)


def replayed(given: Given, at: int, names: tuple[str, ...], nodes: tuple[int, ...] = ()) -> None:
    correlation = given.launch(at, "cudaGraphLaunch")
    for place, name in enumerate(names):
        start = 1000 * (at + 10 + 5 * place)
        node = {"graph_node": nodes[place]} if nodes else {}
        row = {"name": name, "correlation": correlation, "device": 0, "stream": 7, **node}
        given.add("kernels", start_ns=start, dur_ns=4000, **row)


@pytest.mark.parametrize("is_named", [True, False])
def test_kernels_of_a_replay_have_the_operator_and_the_module_of_their_capture(tmp_path: Path, is_named: bool) -> None:
    given = Given()
    captured(given, 0, "attn", ("mm", "softmax"), is_named)
    replayed(given, 200, ("mm", "softmax"))
    replayed(given, 300, ("mm", "softmax"))
    assert (
        rows(given.open(tmp_path), LINKS)
        == [
            ("mm", "aten::mm", "attn", "graph"),
            ("softmax", "aten::softmax", "attn", "graph"),
        ]
        * 2
    )


def test_nodes_of_a_graph_tell_the_order_where_streams_overlap(tmp_path: Path) -> None:
    given = Given()
    captured(given, 0, "attn", ("mm", "softmax"), False)
    replayed(given, 200, ("kernel_b", "kernel_a"), nodes=(8, 7))
    assert rows(given.open(tmp_path), LINKS) == [
        ("kernel_b", "aten::softmax", "attn", "graph"),
        ("kernel_a", "aten::mm", "attn", "graph"),
    ]


def test_graphs_alike_are_replayed_in_the_order_of_their_captures(tmp_path: Path) -> None:
    """As the pieces of a model of which each layer is a graph."""
    given = Given()
    for at, layer in ((0, "layers.0"), (100, "layers.1")):
        captured(given, at, layer, ("mm",), True)
    for at in (300, 400, 500, 600):
        replayed(given, at, ("mm",))
    found = rows(given.open(tmp_path), LINKS)
    assert [layer for _, _, layer, _ in found] == ["layers.0", "layers.1"] * 2


@pytest.mark.parametrize("has_nodes", [True, False])
def test_a_graph_that_is_replayed_twice_keeps_its_capture(tmp_path: Path, has_nodes: bool) -> None:
    """Two updates of a critic for one of an actor, whose graphs have as many nodes; CUDA's captures name no kernel."""
    given = Given()
    for at, layer, operator in ((0, "critic", "mm"), (100, "actor", "add")):
        captured(given, at, layer, (operator,), False)
    for number, (name, node) in enumerate((("gemm", 1 << 32), ("gemm", 1 << 32), ("plus", 2 << 32)) * 2):
        replayed(given, 300 + 100 * number, (name,), nodes=(node,) if has_nodes else ())
    gemm, plus = ("gemm", "aten::mm", "critic", "graph"), ("plus", "aten::add", "actor", "graph")
    assert rows(given.open(tmp_path), LINKS) == [gemm, gemm, plus] * 2


def test_kernels_of_a_graph_that_start_in_another_order_make_no_other_graph(tmp_path: Path) -> None:
    """Two branches of a graph are on two streams: either may be first."""
    given = Given()
    for at, layer in ((0, "layers.0"), (100, "layers.1")):
        captured(given, at, layer, ("mm", "add"), False)
    for number in range(8):
        replayed(given, 300 + 100 * number, ("plus", "gemm") if number == 3 else ("gemm", "plus"))
    layers = [layer for _, _, layer, _ in rows(given.open(tmp_path), LINKS)]
    assert layers == ["layers.0", "layers.0", "layers.1", "layers.1"] * 4


def test_graphs_with_nodes_are_of_captures_in_the_order_in_which_they_are_made(tmp_path: Path) -> None:
    given = Given()
    for at, layer in ((0, "actor"), (100, "critic")):
        captured(given, at, layer, ("mm",), False)
    for number, node in enumerate((8, 8, 7)):
        replayed(given, 300 + 100 * number, ("gemm",), nodes=(node,))
    found = rows(given.open(tmp_path), LINKS)
    assert [layer for _, _, layer, _ in found] == ["critic", "critic", "actor"]


@pytest.mark.parametrize(
    ("layers", "nodes", "expected"),
    [
        (("attn",), (7, 8), None),
        (("attn", "mlp"), (7, 7), None),
        (("attn", "attn"), (7, 7), "attn"),
    ],
    ids=["a graph without its capture", "which of two captures", "the same captured twice"],
)
def test_other_graphs_than_captures_are_linked_only_where_captures_are_alike(
    tmp_path: Path, layers: tuple[str, ...], nodes: tuple[int, ...], expected: str | None
) -> None:
    given = Given()
    for number, layer in enumerate(layers):
        captured(given, 100 * number, layer, ("mm",), False)
    for number, node in enumerate(nodes):
        replayed(given, 300 + 100 * number, ("gemm",), nodes=(node,))
    found = rows(given.open(tmp_path), "SELECT DISTINCT op_name, layer, op_link FROM kernels")
    assert found == [("aten::mm", expected, "graph") if expected else (None, None, None)]


@pytest.mark.parametrize(
    ("captures", "replays"),
    [
        ([("mm", "softmax")], [("mm", "softmax", "add")]),
        ([("mm", "softmax")], [("mm", "gelu")]),
        ([("mm",), ("mm",)], [("mm",)] * 3),
    ],
    ids=["other number", "other kernels", "which of two"],
)
def test_what_is_not_certain_is_not_linked(
    tmp_path: Path, captures: list[tuple[str, ...]], replays: list[tuple[str, ...]]
) -> None:
    given = Given()
    for number, names in enumerate(captures):
        captured(given, 100 * number, f"layers.{number}", names, True)
    for number, names in enumerate(replays):
        replayed(given, 1000 + 100 * number, names)
    assert {link for *_, link in rows(given.open(tmp_path), LINKS)} == {None}


def test_what_a_graph_replays_costs_as_often_as_it_is_replayed(tmp_path: Path) -> None:
    given = Given()
    call(given, "cudaStreamBeginCapture", 1)
    given.op("aten::mm", 10, 18, tensors=[(8, 64), (64, 64)])
    call(given, "cudaLaunchKernel", 12, kernel_name="mm")
    call(given, "cudaStreamEndCapture", 85)
    for at in (300, 400, 500):
        given.span("step", f"ProfilerStep#{at // 100}", at - 10, at + 60)
        replayed(given, at, ("mm",))
    query = "SELECT step, matrix_flop, busy_ns FROM op_costs ORDER BY step"
    connection = given.open(tmp_path)
    assert rows(connection, query) == [(step, 2 * 8 * 64 * 64, 4000) for step in (3, 4, 5)]
    assert rows(connection, "SELECT count(*), sum(1 / per), sum(own_ns) FROM op_floors") == [(1, 1, 4000)]


@pytest.mark.parametrize(("replays", "flop"), [(1, 38912), (2, None)])
def test_requests_of_a_server_are_those_around_the_replay(tmp_path: Path, replays: int, flop: int | None) -> None:
    """Paged attention: q of 8 heads, two requests. Of two replays each has its own requests, the call one shape."""
    given = Given()
    call(given, "cudaStreamBeginCapture", 1)
    heads = [(4, 8, 64), (4, 2, 64), (4, 2, 64), (4, 8, 64)]
    given.op("vllm::unified_attention_with_output", 10, 18, tensors=heads, dtype="c10::BFloat16")
    call(given, "cudaLaunchKernel", 12, kernel_name="paged")
    call(given, "cudaStreamEndCapture", 85)
    for at in (300, 400)[:replays]:
        given.span(
            "user",
            f"execute_4_context_1(sq3sk5sqsq9sqsk15)_generation_1(sq1sk{at - 293}sqsq1sqsk{at - 293})",
            at,
            at + 50,
        )
        replayed(given, at, ("paged",))
    assert rows(given.open(tmp_path), "SELECT DISTINCT matrix_flop FROM op_costs") == [(flop,)]


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_replay_whose_last_kernel_is_lost_is_known_by_the_names_of_all_others(
    tmp_path: Path, is_named: bool, other: bool
) -> None:
    """As in a public trace of Flux on an MI300X: 1,567 launches captured, 1,566 kernels of each replay."""
    given = Given()
    names = tuple(f"part{number}" for number in range(11))
    captured(given, 0, "attn", names, is_named, apart=7)
    replayed(given, 200, (*names[:9], "gelu") if other else names[:10])
    is_known = is_named and not other
    found = rows(given.open(tmp_path), LINKS)
    expected = [(name, f"aten::{name}", "attn", "graph") for name in names[:10]]
    assert found == expected if is_known else {link for *_, link in found} == {None}


@pytest.mark.parametrize(("sizes", "link"), [((1, 32), None), ((8, 8), "graph")])
def test_of_captures_for_several_batch_sizes_none_is_taken(
    tmp_path: Path, sizes: tuple[int, int], link: str | None
) -> None:
    """Their operators and modules are the same, shapes are not: which of them a replay ran is not recorded."""
    given = Given()
    for number, size in enumerate(sizes):
        at = 100 * number
        given.span("module", "attn (Layer)", at, at + 90)
        call(given, "cudaStreamBeginCapture", at + 1)
        given.op("aten::mm", at + 10, at + 18, tensors=[(size, 64), (64, 64)])
        call(given, "cudaLaunchKernel", at + 12, kernel_name="mm")
        call(given, "cudaStreamEndCapture", at + 85)
    for at in (300, 400):
        replayed(given, at, ("mm",))
    assert {found for *_, found in rows(given.open(tmp_path), LINKS)} == {link}


@pytest.mark.parametrize(
    ("calls", "kernels", "expected"),
    [
        # The number of no call.
        ([("aten::relu", 1, 0), ("aten::mm", 1, 5)], [0, 5], [None, "aten::mm"]),
        # A number that began again.
        ([("aten::mm", 1, 1), ("aten::relu", 1, 1), ("aten::add", 1, 2)], [1, 1, 2], [None, None, "aten::add"]),
        # Two threads, which may be of two processes.
        ([("aten::mm", 1, 1), ("aten::relu", 2, 1)], [1, 1], [None, None]),
        # A call of the driver inside of one of the runtime.
        ([("aten::mm", 1, 1), (None, 1, 1)], [1], ["aten::mm"]),
    ],
)
def test_a_number_of_several_calls_leads_to_none(
    tmp_path: Path, calls: list[tuple[str | None, int, int]], kernels: list[int], expected: list[str | None]
) -> None:
    events, at = [], 0
    for name, tid, number in calls:
        at += 100 if name else 0
        events += [event("cpu_op", name, at, 50, tid)] if name else []
        events.append(event("cuda_runtime", "cudaLaunchKernel", at + (10 if name else 12), 8, tid, correlation=number))
    for place, number in enumerate(kernels):
        events.append(event("kernel", "k", 1000 + 20 * place, 10, 7, device=0, stream=7, correlation=number))
    with made(tmp_path, events) as connection:
        assert rows(connection, "SELECT op_name FROM kernels ORDER BY start_ns") == [(name,) for name in expected]


def test_copies_without_a_device_are_the_only_ones_and_copies_within_the_host_are_none(tmp_path: Path) -> None:
    """Three microseconds of a kernel and one of a copy in ten: 40 %, of one device."""
    given = Given()
    given.span("step", "step 0", 0, 10)
    given.kernel("gemm", 1, 4, launched=0)
    given.copy("HtoD", 5, 6, launched=4, device=None, stream=None)
    given.copy("HtoH", 7, 8, launched=6, device=None, stream=None)
    found = given.open(tmp_path)
    assert rows(found, "SELECT device, active_ns, step_ns FROM account") == [("gpu 0", 4000, 10_000)]
    assert rows(found, "SELECT direction, device FROM memcpys ORDER BY direction") == [("HtoD", 0), ("HtoH", None)]
    assert rows(found, "SELECT kind FROM quality WHERE contains(kind, 'device')") == []


def test_a_copy_within_the_host_is_no_device_time_where_the_profiler_names_a_device(tmp_path: Path) -> None:
    """CUPTI does: six of ten microseconds were busy, and the kernel within the copy was no time of its own."""
    given = Given()
    given.span("step", "step 0", 0, 10)
    given.copy("HtoH", 1, 7, launched=0)
    given.kernel("gemm", 5, 6, launched=4)
    found = given.open(tmp_path)
    assert rows(found, "SELECT device, active_ns, idle_ns FROM account") == [("gpu 0", 1000, 9000)]
    assert rows(found, "SELECT category, alone_ns FROM busy") == [("gemm", 1000)]
    assert rows(found, "SELECT direction, device, dur_ns FROM memcpys") == [("HtoH", 0, 6000)]


def test_copies_without_a_device_beside_two_are_in_the_time_of_none_and_counted(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "step 0", 0, 10)
    given.kernel("gemm", 1, 4, launched=0)
    given.kernel("gemm", 1, 3, launched=0, device=1)
    given.copy("HtoD", 5, 6, launched=4, device=None, stream=None)
    given.copy("HtoH", 7, 8, launched=6, device=None, stream=None)
    found = given.open(tmp_path)
    assert rows(found, "SELECT device, active_ns FROM account ORDER BY device") == [("gpu 0", 3000), ("gpu 1", 2000)]
    assert rows(found, "SELECT n, examples FROM quality WHERE contains(kind, 'device')") == [(1, ["Memcpy HtoD"])]
    (doubt,) = section(found, "overview/doubts")
    assert "1 of 4 kernels and copies do not name their device" in doubt["text"]
