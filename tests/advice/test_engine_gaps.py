"""Time between iterations of an inference engine in which requests wait and no device works."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer
from given import Given

from traceview.analysis import findings

RULE = "engine_gaps"


def iterations(requests: tuple[int, ...], busy_us: float = 800) -> Given:
    """An iteration every 1,000 us."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for number, n in enumerate(requests):
        start = 1000 * number
        given.span("user", f"step[DECODE bs={n}]" if n else "step[EXTEND bs=1 toks=9]", start, start + 900)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", start + 10, start + 10 + busy_us, launched=start + 5)
    return given


def test_gaps_before_requests_that_were_there_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, iterations((4, 4, 4, 4)), tmp_path)
    assert (found.status, found.saving_ns, found.of, found.run_ns) == (
        "found",
        3 * 200_000,
        "the recording",
        3_900_000,
    )
    assert found.confidence.startswith("high")
    assert found.problem == (
        "Between iterations the device has nothing to do: 3 gaps, 0.600 ms in all, 0.200 ms in the middle."
    )


def test_gaps_between_the_marks_are_no_share_of_these(tmp_path: Path) -> None:
    """Marks of 900 us begin every 5 ms: 19 gaps of 4.2 ms are more than the steps, and less than the recording."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in range(0, 100_000, 5000):
        given.span("user", "step[DECODE bs=4]", start, start + 900)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", start + 10, start + 810, launched=start + 5)
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.of) == (19 * 4_200_000, "the recording")
    assert found.saving_pct == pytest.approx(100 * 19 * 4.2 / 95.9)
    assert found.evidence == ("longest gap 4.200 ms, 83.2 % of the recording in all",)
    (row,) = findings.best_of([found]).rows
    assert "in the recording" in row and "once in the recording" not in row


def test_a_sampler_between_the_marks_is_no_idle_time(tmp_path: Path) -> None:
    """Its kernel and a copy of the tokens, launched after the mark, take 305 of the 800 us between two iterations."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in range(0, 4000, 1000):
        given.span("user", "step[DECODE bs=4]", start, start + 50)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", start + 10, start + 210, launched=start + 5)
        given.kernel("TopKTopPSamplingFromProbKernel", start + 300, start + 600, launched=start + 60)
        given.copy("DtoH", start + 600, start + 605, launched=start + 70)
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.of) == (3 * (90_000 + 405_000), "the recording")


@pytest.mark.parametrize(
    "given",
    [iterations((4, 4, 4)), iterations((4, 4, 4, 4), busy_us=990), iterations((1, 2, 3, 4)), iterations((0, 0, 0, 0))],
    ids=["two gaps", "short ones", "requests that came", "prompts"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_a_server_without_requests_is_not_waiting(tmp_path: Path) -> None:
    """Requests come to a decode server one at a time, now and then: their iterations follow each other at once."""
    given, at = Given(), 0.0
    given.device("NVIDIA A100-SXM4-40GB")
    for number in range(20):
        given.span("user", "step[DECODE bs=1]", at, at + 900)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", at + 10, at + 1005, launched=at + 5)
        at += 1000 if number % 5 else 50_000
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_marks_of_an_engine_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
