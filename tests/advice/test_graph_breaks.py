"""Compiled code that calls compiled code through Python, by marks inside one another, and functions left uncompiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

pytestmark = pytest.mark.slow

RULE = "graph_breaks"


def steps(pieces: int, device: str | None = None, marked: bool = True) -> Given:
    """In each of three steps one call of 100 us for each piece; its kernel is the first 60 us of the graph."""
    given = training(device=device)
    for start in (0, 1000, 2000):
        end = start + 100 + 100 * pieces
        for number in range(pieces):
            at = start + 100 + 100 * number
            given.op(f"Torch-Compiled Region: {number}/0", at, end)
            given.op("TorchDynamo Cache Lookup", at + 1, at + 9)
            if marked:
                given.op("CompiledFunction", at + 10, at + 80)
            given.op("cpp_fused_add_tanh_0", at + 10, at + 70)
            if device:
                given.kernel("triton_poi_fused_add_tanh_0", at + 30, at + 80, launched=at + 15)
    return given


@pytest.mark.parametrize("marked", [True, False], ids=["training", "inference"])
def test_what_lies_between_the_pieces_is_the_bound(tmp_path: Path, marked: bool) -> None:
    found = answer(RULE, steps(3, marked=marked), tmp_path)
    # From the first kernel's start, at 110, to the end at 400, without three kernels of 60.
    assert (found.status, found.saving_ns) == ("found", 290_000 - 3 * 60_000)
    assert (
        found.problem == "A call of compiled code runs as 3.0 pieces, between which no compiled work runs for 0.110 ms."
    )
    assert found.evidence == (
        "graphs 0, 1, 2 in one call",
        "speculative: up to 0.120 ms more (12.0 % of the step) if their kernels fuse across the breaks",
    )


def test_a_call_whose_graph_has_no_number_is_a_piece_like_any_other(tmp_path: Path) -> None:
    given = steps(3)
    for row in given.rows["ops"]:
        row["name"] = {"Torch-Compiled Region: 0/0": "Torch-Compiled Region: Unknown"}.get(row["name"], row["name"])
        row["name"] = row["name"].replace("Region: 2/0", "Region: 99999999999999999999/0")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 290_000 - 3 * 60_000)
    assert found.evidence[0] == "graphs 1, (unknown) in one call"


def test_graphs_of_compiled_autograd_have_its_number(tmp_path: Path) -> None:
    given = steps(3)
    for row in given.rows["ops"]:
        row["name"] = row["name"].replace("Region: 1/0", "Region: !0/11/0")
    assert answer(RULE, given, tmp_path).evidence[0] == "graphs 0, 2, !0/11 in one call"


def test_one_graph_is_not_found(tmp_path: Path) -> None:
    assert answer(RULE, steps(1), tmp_path).status == "not found"


def test_without_compiled_code_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


def beside() -> Given:
    """In each of three steps two calls of compiled code, with an operator between them."""
    given = training(device=None)
    for start in (0, 1000, 2000):
        for at in (start + 100, start + 500):
            given.op("Torch-Compiled Region: 1/0", at, at + 300)
            given.op("CompiledFunction", at + 10, at + 290)
            given.op("cpp_fused_add_tanh_0", at + 20, at + 280)
        given.op("aten::item", start + 420, start + 480)
    return given


def test_of_calls_after_one_another_it_cannot_tell_without_notes(tmp_path: Path) -> None:
    """A break in a loop leaves the loop uncompiled, and each call in it as a piece beside the others."""
    found = answer(RULE, beside(), tmp_path)
    assert found.status == "cannot tell"
    assert found.reason == (
        "calls of compiled code follow one another, and the trace does not say whether a graph break divides them "
        "(traceview collect notes breaks)."
    )


def test_a_graph_of_compiled_autograd_after_the_forward_pass_is_no_piece(tmp_path: Path) -> None:
    given = beside()
    for row in given.rows["ops"]:
        if row["start_ns"] % 1_000_000 == 500_000:
            row["name"] = row["name"].replace("Region: 1/0", "Region: !0/1/0")
    assert answer(RULE, given, tmp_path).status == "not found"


def test_calls_after_one_another_are_no_pieces_where_notes_name_no_break(tmp_path: Path) -> None:
    given = beside()
    given.about = {"compiled": {"graphs": [{"id": "1/0", "function": "forward"}], "breaks": []}}
    assert answer(RULE, given, tmp_path).status == "not found"


def test_a_graph_that_calls_compiled_code_itself_is_not_broken(tmp_path: Path) -> None:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op("Torch-Compiled Region: 0/0", start + 100, start + 900)
        given.op("CompiledFunction", start + 110, start + 890)
        given.op("Torch-Compiled Region: 1/0", start + 120, start + 500)
        given.op("cpp_fused_add_tanh_0", start + 300, start + 400)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_compiling_in_a_call_is_not_counted(tmp_path: Path) -> None:
    given = steps(2)
    given.op("_compile.compile_inner (dynamo_timed)", 181, 197)
    given.op("build_guards (dynamo_timed)", 185, 190)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == pytest.approx((3 * (190_000 - 120_000) - 16_000) / 3, abs=1)


def test_on_a_device_only_what_it_idles_counts(tmp_path: Path) -> None:
    """Kernels of 50 us that begin 100 us apart leave 50 idle; a device that is behind idles for nothing."""
    found = answer(RULE, steps(3, "NVIDIA A100-SXM4-40GB"), tmp_path / "idle")
    assert (found.status, found.saving_ns) == ("found", 100_000)
    given = steps(3)
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        for number in range(3):
            at = start + 100 + 100 * number
            given.kernel("triton_poi_fused_add_tanh_0", start + 130 + 250 * number, start + 380 + 250 * number, at + 15)
    assert answer(RULE, given, tmp_path / "busy").status == "not found"


def test_a_function_left_uncompiled_is_named_without_a_bound(tmp_path: Path) -> None:
    given = training(device=None)
    given.op("aten::mul", 100, 200, [(8, 8), (8, 8)], ["", ""])
    failed = {"id": "0/0", "function": "forward", "file": "net.py", "line": 7, "failed": "graph break in a loop"}
    given.about = {"compiled": {"graphs": [failed], "breaks": []}}
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", None, "Ends at net.py:7 (forward)")
    assert found.evidence == ("not compiled: net.py:7 (forward): graph break in a loop",)


def test_a_function_that_reached_the_limit_of_compilations_is_named(tmp_path: Path) -> None:
    """PyTorch notes the compilation that it gave up without the function, which is that of the frame's other graphs.
    Calls that one of these fits run compiled."""
    given = steps(1)
    known = {"function": "forward", "file": "net.py", "line": 7}
    failed = {"id": "0/2", "function": None, "file": None, "line": None, "failed": "recompile limit exceeded"}
    given.about = {"compiled": {"graphs": [{"id": "0/0", **known}, {"id": "0/1", **known}, failed], "breaks": []}}
    assert answer(RULE, given, tmp_path / "fits").status == "not found"
    for row in given.rows["ops"]:
        row["name"] = row["name"].replace("Region: 0/0", "Region: 1/0")
    found = answer(RULE, given, tmp_path / "does not fit")
    assert (found.status, found.saving_ns, found.place) == ("found", None, "Ends at net.py:7 (forward)")
    assert found.problem == "1 function could not be compiled: the operators in it run one by one."
    assert found.evidence == ("not compiled: net.py:7 (forward): recompile limit exceeded",)


def test_a_failed_compilation_whose_function_is_not_noted_has_the_number_of_its_frame(tmp_path: Path) -> None:
    given = steps(1)
    given.about = {"compiled": {"graphs": [{"id": "3/0", "failed": "unknown"}], "breaks": []}}
    assert answer(RULE, given, tmp_path).evidence == ("not compiled: frame 3: unknown",)


def test_where_breaks_are_noted_the_most_frequent_is_the_place(tmp_path: Path) -> None:
    given = steps(2)
    line = {"file": "net.py", "line": 7, "function": "forward", "reason": "Tensor.item()"}
    given.about = {"compiled": {"graphs": [], "breaks": [line, {**line, "line": 9}, {**line, "line": 9}]}}
    found = answer(RULE, given, tmp_path)
    assert found.place == "Ends at net.py:9 (forward)"
    assert found.evidence[0] == "ends at net.py:9 (forward): Tensor.item()"
