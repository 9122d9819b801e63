"""Operators that compiled code calls as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "eager_in_compiled"
GRAPH, REGION = "CompiledFunction", "Torch-Compiled Region: 0/0"


def steps(name: str, under: str | None = GRAPH, device: str | None = None, us: float = 300) -> Given:
    """In each of three steps a graph of 900 us that calls `name` and a kernel of its own."""
    given = training(device=device)
    for start in (0, 1000, 2000):
        given.op(REGION, start + 20, start + 980)
        if under != REGION:
            given.op(GRAPH, start + 40, start + (940 if under == GRAPH else 60))
        given.op("cpp_fused_relu_0", start + 42, start + 58)
        given.op(name, start + 100, start + 100 + us, [(1024, 1024)])
        if device:
            given.kernel("bitonicSortKVInPlace", start + 200, start + 200 + us, launched=start + 101)
    return given


@pytest.mark.parametrize("under", [GRAPH, REGION], ids=["training", "inference"])
def test_all_of_its_time_where_no_bandwidth_is_known(tmp_path: Path, under: str) -> None:
    found = answer(RULE, steps("aten::sort", under), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 300_000)
    assert found.problem == "Compiled code calls operators that it has no code for 1.0 times, 0.300 ms in all."
    assert (found.place, found.evidence) == ("Mostly aten::sort", ("aten::sort: 1.0 calls, 0.300 ms",))


def test_what_the_memory_allows_is_left_of_a_device(tmp_path: Path) -> None:
    found = answer(RULE, steps("aten::sort", device="NVIDIA A100-SXM4-40GB"), tmp_path)
    least_us = 1e6 * (4 + 4 + 8) * 1024 * 1024 / 1555e9
    assert found.status == "found" and found.saving_ns == pytest.approx(1000 * (300 - least_us), rel=1e-3)


@pytest.mark.parametrize(
    "given",
    [
        steps("aten::mm"),
        steps("cpp_fused_sort_1"),
        steps("aten::sort", us=15),
        steps("aten::sort", "graph beside it"),
        steps("my_library::norm"),
        steps("aten::_foreach_copy_"),
    ],
    ids=["a product", "made for it", "little of the step", "between two graphs", "another library", "copies of inputs"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_compiled_code_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(device=None), tmp_path).status == "cannot tell"
