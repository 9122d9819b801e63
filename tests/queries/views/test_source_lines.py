"""Lines of the user's own code: the innermost such frame around an operator."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

LINES = """SELECT o.name, s.file, s.line, s.function, s.is_of_forward
FROM source_lines s JOIN ops o ON o.id = s.op_id ORDER BY o.start_ns"""


def frame(given: Given, name: str, start: int, end: int, tid: int = 1) -> None:
    given.add("ranges", kind="python", name=name, pid=1, tid=tid, start_ns=1000 * start, dur_ns=1000 * (end - start))


def op(given: Given, name: str, start: int, tid: int = 1, **facts: object) -> None:
    given.add("ops", name=name, pid=1, tid=tid, start_ns=1000 * start, dur_ns=4000, **facts)


def test_frameworks_installed_packages_and_the_standard_library_are_skipped(tmp_path: Path) -> None:
    given = Given()
    frame(given, "<string>(1): <module>", 0, 400)
    frame(given, "train.py(30): main", 1, 300)
    frame(given, "torch/nn/modules/module.py(1700): _call_impl", 5, 90)
    frame(given, "models/net.py(12): forward", 10, 80)
    for at, inner in enumerate(
        (
            "torch/nn/functional.py(99): softmax",
            "einops/einops.py(7): rearrange",
            "functools.py(20): wrapper",
            "/venv/lib/python3.12/site-packages/own/thing.py(1): call",
            "/tmp/torchinductor_me/ab/cab.py(5): call",
            "<built-in function linear>",
        )
    ):
        frame(given, inner, 11 + 5 * at, 15 + 5 * at)
        op(given, f"op{at}", 12 + 5 * at)
    op(given, "outside", 200)
    op(given, "nobody's", 350)
    connection = given.open(tmp_path)
    assert rows(connection, LINES) == [
        *((f"op{at}", "models/net.py", 12, "forward", False) for at in range(6)),
        ("outside", "train.py", 30, "main", False),
    ]


def test_a_backward_operator_has_the_line_of_its_forward_one(tmp_path: Path) -> None:
    given = Given()
    frame(given, "net.py(12): forward", 0, 20)
    op(given, "aten::mm", 5, sequence=3)
    frame(given, "train.py(40): main", 30, 200)
    op(given, "MmBackward0", 50, tid=2, sequence=3, forward_thread=1)
    op(given, "aten::mm", 51, tid=2)
    op(given, "AccumulateGrad", 60)
    assert [row[:3] for row in rows(given.open(tmp_path), LINES)] == [
        ("aten::mm", "net.py", 12),
        ("MmBackward0", "net.py", 12),
        ("aten::mm", "net.py", 12),
        ("AccumulateGrad", "train.py", 40),
    ]


def test_what_a_checkpoint_runs_again_has_its_own_line_and_is_no_gradient(tmp_path: Path) -> None:
    given = Given()

    def span(name: str, start: int, end: int, **facts: object) -> None:
        given.add("ops", name=name, pid=1, tid=1, start_ns=1000 * start, dur_ns=1000 * (end - start), **facts)

    frame(given, "net.py(10): forward", 0, 10)
    op(given, "aten::conv2d", 2)
    frame(given, "net.py(12): forward", 10, 20)
    op(given, "aten::relu", 12, sequence=3)
    frame(given, "train.py(40): main", 30, 200)
    span("ReluBackward0", 50, 100, sequence=3, forward_thread=1)
    frame(given, "net.py(10): forward", 55, 70)
    span("aten::conv2d", 57, 69, sequence=7)
    op(given, "aten::convolution", 60)
    frame(given, "net.py(12): forward", 70, 80)
    op(given, "aten::relu", 72, sequence=8)
    op(given, "aten::threshold_backward", 90)
    connection = given.open(tmp_path)
    assert rows(connection, LINES)[2:] == [
        ("ReluBackward0", "net.py", 12, "forward", True),
        ("aten::conv2d", "net.py", 10, "forward", False),
        ("aten::convolution", "net.py", 10, "forward", False),
        ("aten::relu", "net.py", 12, "forward", False),
        ("aten::threshold_backward", "net.py", 12, "forward", True),
    ]
    query = """SELECT o.name, f.name, o.phase FROM ops o LEFT JOIN ops f ON f.id = o.forward_id
        WHERE o.is_backward ORDER BY o.start_ns"""
    assert rows(connection, query) == [
        ("ReluBackward0", "aten::relu", "backward"),
        ("aten::conv2d", None, "backward"),
        ("aten::convolution", None, "backward"),
        ("aten::relu", None, "backward"),
        ("aten::threshold_backward", "aten::relu", "backward"),
    ]


def test_generated_code_has_its_file_where_no_frame_is_known(tmp_path: Path) -> None:
    given = Given()
    frame(given, "net.py(12): forward", 0, 20)
    op(given, "triton_poi_fused_add_0", 5, code_file="/tmp/torchinductor_me/ab/cab.py")
    op(given, "triton_poi_fused_mul_1", 50, code_file="/tmp/torchinductor_me/cd/cde.py")
    op(given, "aten::mm", 60)
    assert rows(given.open(tmp_path), LINES) == [
        ("triton_poi_fused_add_0", "net.py", 12, "forward", False),
        ("triton_poi_fused_mul_1", "/tmp/torchinductor_me/cd/cde.py", None, "triton_poi_fused_mul_1", False),
    ]


def test_a_launch_outside_of_all_operators_has_a_line_too(tmp_path: Path) -> None:
    given = Given()
    frame(given, "serve.py(7): replay", 0, 20)
    given.kernel("k", 30, 40, launched=10)
    found = rows(given.open(tmp_path), "SELECT op_id, launch_id IS NOT NULL, file, line FROM source_lines")
    assert found == [(None, True, "serve.py", 7)]


@pytest.mark.slow
def test_a_program_without_code_of_its_own_has_that_of_a_library_of_models(tmp_path: Path) -> None:
    given = Given()
    frame(given, "vllm/v1/worker/gpu_model_runner.py(3380): execute_model", 0, 50)
    frame(given, "torch/_ops.py(1): __call__", 5, 40)
    op(given, "aten::mm", 10)
    assert [row[:3] for row in rows(given.open(tmp_path / "a"), LINES)] == [
        ("aten::mm", "vllm/v1/worker/gpu_model_runner.py", 3380)
    ]
    frame(given, "mine.py(3): run", 60, 70)
    assert rows(given.open(tmp_path / "b"), LINES) == []
