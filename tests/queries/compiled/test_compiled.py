"""Compiled code: kernels made of operators, graphs, why they were compiled again, and where they ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, pick, rows, section


@pytest.mark.parametrize(
    ("name", "kind", "operators"),
    [
        ("triton_poi_fused_add_relu_3", "pointwise", ["add", "relu"]),
        ("triton_poi_fused__unsafe_view_mul_silu_2", "pointwise", ["_unsafe_view", "mul", "silu"]),
        ("triton_poi_fused_add__to_copy_2", "pointwise", ["add", "_to_copy"]),
        ("triton_per_fused__softmax_3_0d1d2", "persistent reduction", ["_softmax"]),
        (
            "cpp_fused_add_native_layer_norm_native_layer_norm_backward_sum_2",
            "C++",
            ["add", "native_layer_norm", "native_layer_norm_backward", "sum"],
        ),
        ("graph_0_cpp_fused_gelu_gelu_backward_1", "C++", ["gelu", "gelu_backward"]),
        ("triton_red_fused_a_of_nobody_7", "reduction", ["a", "of", "nobody"]),
    ],
)
def test_the_operators_of_a_kernel_are_those_of_its_name(
    tmp_path: Path, name: str, kind: str, operators: list[str]
) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.kernel(name, 10, 20, launched=5)
    given.kernel("ampere_sgemm_fused_128x64", 20, 30, launched=6)
    connection = given.open(tmp_path)
    assert rows(connection, "SELECT kernel, kind, operators, is_whole, busy_ns FROM fused_ops") == [
        (name, kind, operators, True, 10_000)
    ]


def test_a_name_of_ten_operators_may_leave_some_out(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.kernel("triton_poi_fused_a_b_c_d_e_f_g_h_i_j_0", 10, 20, launched=5)
    assert pick(section(given.open(tmp_path), "compiled/kernels"), "operators") == [("a b c d e f g h i j ...",)]


def test_a_kernel_on_a_cpu_has_pass_place_and_bytes(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "ProfilerStep#1", 0, 100)
    given.span("module", "net (Net)", 5, 95)
    given.add(
        "ranges", kind="python", name="net.py(7): forward", domain="compiled", pid=1, tid=1, start_ns=8000, dur_ns=9000
    )
    given.op("CompiledFunction", 6, 60)
    given.op("cpp_fused_gelu_1", 10, 14, [[4, 8], [4, 8]])
    given.op("cpp_fused_gelu_1", 30, 34, [[4, 8], [4, 8]])
    found = section(given.open(tmp_path), "compiled/kernels")
    assert pick(found, "kernel", "module", "line", "pass", "calls", "busy_ns", "bytes") == [
        ("cpp_fused_gelu_1", "net", "net.py(7)", "forward", 1.0, 4000, 256.0),
        ("cpp_fused_gelu_1", "net", None, "forward", 1.0, 4000, 256.0),
    ]


def test_the_pass_of_a_kernel_without_an_operator_is_not_known(tmp_path: Path) -> None:
    """Two kernels of a replayed graph, and one that an operator of the forward pass launched."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.kernel("triton_poi_fused_relu_0", 10, 20, launched=5)
    given.kernel("triton_poi_fused_threshold_backward_1", 20, 50, launched=5)
    given.op("triton_poi_fused_add_2", 60, 70)
    given.kernel("triton_poi_fused_add_2", 65, 67, launched=62)
    found = section(given.open(tmp_path), "compiled/kernels")
    assert pick(found, "operators", "pass") == [("threshold_backward", None), ("relu", None), ("add", "forward")]


def test_compiled_for_the_backward_pass_has_the_line_that_it_was_made_from(tmp_path: Path) -> None:
    given = Given()
    for name, domain, start, end in (
        ("train.py(30): step", None, 0, 200),
        ("net.py(7): forward", "compiled", 12, 20),
        ("net.py(8): forward", "compiled", 112, 120),
    ):
        where = {"kind": "python", "name": name, "domain": domain, "pid": 1, "tid": 1}
        given.add("ranges", **where, start_ns=1000 * start, dur_ns=1000 * (end - start))
    given.add("ops", name="CompiledFunction", pid=1, tid=1, start_ns=10_000, dur_ns=20_000, sequence=5)
    given.op("aten::mm", 13, 15)
    backward = {"sequence": 5, "forward_thread": 1}
    given.add("ops", name="CompiledFunctionBackward", pid=1, tid=1, start_ns=110_000, dur_ns=20_000, **backward)
    given.op("aten::mm", 113, 115)
    lines = (
        "SELECT o.start_ns, line FROM source_lines s JOIN ops o ON o.id = op_id WHERE o.name = 'aten::mm' ORDER BY 1"
    )
    assert rows(given.open(tmp_path), lines) == [(13_000, 7), (113_000, 8)]


def graph(number: str, function: str | None = "forward", **facts: object) -> dict[str, object]:
    known = {"id": number, "function": function, "file": "net.py", "line": 4, "operators": 3, "dur_us": 2}
    return {**known, "recompiled": None, "failed": None, "is_backward": False, **facts}


def test_graphs_are_counted_by_function_and_recompilations_have_reasons(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "ProfilerStep#1", 0, 100)
    given.op("Torch-Compiled Region: 0/1", 10, 20)
    given.op("Torch-Compiled Region: 0/1", 40, 50)
    given.about = {
        "compiled": {
            "graphs": [
                graph("0/0", start_us=-500),
                graph("0/0", None, is_backward=True, start_us=-400, dur_us=5),
                graph("0/1", recompiled="0/0: size of x", start_us=5),
                graph("1/0", "resume", failed="no"),
                graph("nonsense"),
                graph("2/0", "huge", start_us=9 * 10**18, dur_us=9 * 10**18),
                {"id": 7, "dur_us": "x"},
                "text",
            ],
            "breaks": [{"reason": "print", "file": "net.py", "line": 9, "function": "forward"}] * 2
            + [{"reason": None}, 3],
        }
    }
    connection = given.open(tmp_path)
    found = pick(
        section(connection, "compiled/graphs"), "function", "graphs", "recompilations", "compile_ns", "calls", "failed"
    )
    assert found == [
        ("net.py(4): forward", 2, 1, 9000, 2, None),
        ("net.py(4): huge", 1, 0, None, 0, None),
        ("net.py(4): resume", 0, 0, 2000, 0, "no"),
    ]
    again = section(connection, "compiled/recompilations")
    assert pick(again, "graph", "reason", "compile_ns") == [("0/1", "0/0: size of x", 2000)]
    broken = section(connection, "compiled/breaks")
    assert pick(broken, "place", "breaks", "reason") == [
        ("(not recorded)", 2, "not recorded"),
        ("net.py(9): forward", 2, "print"),
    ]


def test_a_trace_alone_tells_how_often_at_least(tmp_path: Path) -> None:
    given = Given()
    given.op("Torch-Compiled Region: 3/2", 10, 20)
    connection = given.open(tmp_path)
    assert pick(
        section(connection, "compiled/graphs"), "function", "graphs", "recompilations", "compile_ns", "calls"
    ) == [("frame 3", 1, 2, None, 1)]
    assert section(connection, "compiled/breaks") == []


def test_graphs_of_compiled_autograd_are_apart(tmp_path: Path) -> None:
    given = Given()
    for at, name in enumerate(("0/0", "!0/1/0", "0/0", "!0/1/0", "!0/1/2", "!3", "Unknown", "0/1234567890")):
        given.op(f"Torch-Compiled Region: {name}", 10 * at, 10 * at + 5)
    given.about = {"compiled": {"graphs": [graph("!0/1/0", "backward"), graph("!0/1/2", "backward"), graph("!0")]}}
    connection = given.open(tmp_path)
    assert pick(section(connection, "compiled/graphs"), "function", "graphs", "recompilations", "calls") == [
        ("net.py(4): backward", 2, 1, 3),
        ("frame 0", 1, 0, 2),
    ]
    assert pick(section(connection, "compiled/recompilations"), "graph", "function") == [
        ("!0/1/2", "net.py(4): backward")
    ]


def test_a_graph_of_compiled_autograd_alone_is_named_by_its_mark(tmp_path: Path) -> None:
    given = Given()
    given.op("Torch-Compiled Region: !0/0/0", 10, 20)
    found = section(given.open(tmp_path), "compiled/graphs")
    assert pick(found, "function", "graphs", "recompilations", "calls") == [("frame !0/0", 1, 0, 1)]


def test_kernels_of_triton_have_the_bytes_of_their_arguments(captures, shared: Path) -> None:
    connection = captures.open(shared / "traces/operators/triton-compile.json.gz")
    found = pick(section(connection, "compiled/kernels"), "operators", "calls", "busy_ns", "bytes")
    # 8 x 4096 x 8192 and twice that, and one element fewer than the count that its launcher was given.
    assert found[0] == ("_unsafe_view mul silu", 1.0, 527_382, 2.0 * (2 * 8 * 4096 * 8192))
    assert sum(each[2] for each in found) == 527_382 + 140_848 + 90_653 + 77_074


def test_kernels_of_triton_have_their_code_and_its_configuration(captures, shared: Path) -> None:
    connection = captures.open(shared / "traces/operators/triton-compile.json.gz")
    found = pick(section(connection, "compiled/kernels"), "code_config", "code_file")
    code = "/tmp/torchinductor_root/"
    assert found == [
        ("XBLOCK=1024, num_warps=4, num_stages=1", f"{code}ih/cih3dx7ka4rys62ta2bnambn4fq7teloaokd5povyhnyz3w6xpgk.py"),
        ("XBLOCK=512, num_warps=4, num_stages=1", f"{code}hu/chuh2mhvtkbpydj3qsh6vwk3xut3wfyfwp2d47p2d7gahjuv5j34.py"),
        (
            "XBLOCK=2, R0_BLOCK=2048, num_warps=8, num_stages=1",
            f"{code}sn/csnycnrbzs72outt2tsdz3c5t3xx5ef3nudyysa67cyguktywij5.py",
        ),
        (
            "XBLOCK=2, R0_BLOCK=2048, num_warps=8, num_stages=1",
            f"{code}mw/cmwjlpfu2kb4ehcuvblmjopjzi4rp4n2rtyqnvbbrb4xvqkksyqd.py",
        ),
    ]
