"""Communication: on both sides of a tenth of the step, and hidden by computing."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given

RULE = "exposed_communication"


def steps(exchange_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        given.kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", start + 250, start + 300 + exchange_us, start + 2, stream=9
        )
    return given


def test_above_the_threshold_what_nothing_hides_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(101), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 101_000, "Most of it in allreduce")
    assert found.problem == "Collectives run for 0.151 ms, of which 0.101 ms while nothing computes."


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(99), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no communication.")
