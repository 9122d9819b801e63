"""Communication against computing: more or less."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given

RULE = "communication_bound"


def steps(exchange_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        at = start + 250
        given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", at, at + exchange_us, start + 2, stream=9)
    return given


def test_more_than_computing_is_found_with_what_nothing_hides(tmp_path: Path) -> None:
    found = answer(RULE, steps(201), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 151_000)
    assert found.problem == "Collectives run for 0.201 ms, computing takes 0.200 ms."


def test_less_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(199), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no communication.")
