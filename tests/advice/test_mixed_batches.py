"""Iterations that read prompts while requests wait for their next token."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer
from given import Given

RULE = "mixed_batches"


def iterations(mixed_us: float, prompts: int = 1) -> Given:
    """Three iterations of 200 us that make tokens, and one that reads a prompt too."""
    given, at = Given(), 0.0
    given.device("NVIDIA A100-SXM4-40GB")
    decode, mixed = (
        "execute_context_0(0)_generation_8(8)",
        f"execute_context_{prompts}({512 * prompts})_generation_7(7)",
    )
    for mark, us in ((decode, 200.0), (mixed, mixed_us), (decode, 200.0), (decode, 200.0)):
        given.span("user", mark, at, at + us)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", at + 10, at + us, launched=at + 5)
        at += us
    return given


def test_where_tokens_wait_several_times_as_long_it_is_found_without_a_bound(tmp_path: Path) -> None:
    found = answer(RULE, iterations(601), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", None, "In 1 of 4 iterations that make tokens")
    assert found.problem == (
        "Requests that wait for their next token wait 0.601 ms where prompts are read beside them, 0.200 ms where not."
    )
    assert found.evidence == ("7.0 requests wait in such a batch, which reads 512 tokens of prompts",)


@pytest.mark.slow
def test_shorter_ones_and_those_without_prompts_are_not(tmp_path: Path) -> None:
    assert answer(RULE, iterations(599), tmp_path / "short").status == "not found"
    assert answer(RULE, iterations(900, prompts=0), tmp_path / "none").status == "not found"


def made(*iterations: tuple[int, int, float]) -> Given:
    """Iterations of so many tokens of a prompt, so many requests that get a token, and microseconds."""
    given, at = Given(), 0.0
    given.device("NVIDIA A100-SXM4-40GB")
    for prompt, requests, us in iterations:
        mark = f"execute_context_{min(prompt, 1)}({prompt})_generation_{requests}({requests})"
        given.span("user", mark, at, at + us)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", at + 10, at + us, launched=at + 5)
        at += us
    return given


@pytest.mark.parametrize(
    "given",
    [
        made((0, 1, 100), (0, 1, 100), (16, 200, 900), (16, 200, 900)),
        made((0, 4, 200), (0, 4, 200), (0, 4, 200), (64, 128, 900), (64, 128, 900)),
        made((0, 8, 200), (0, 8, 200), (512, 7, 90_000), (512, 7, 300), (512, 7, 300)),
    ],
    ids=["a few tokens of a prompt beside many requests", "few requests and many", "one that compiles"],
)
def test_what_takes_longer_for_another_reason_is_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_marks_of_an_engine_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
