"""Vectors of the library against those of the processor: narrower or as wide."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "isa_below_cpu"
REASON = "the trace holds no primitives of a CPU library (ONEDNN_VERBOSE, or traceview collect)."


def steps(impl: str, flags: list[str], mm_us: float = 100) -> Given:
    given = training(device=None)
    given.about = {"cpu_flags": flags, "environment": {"ONEDNN_MAX_CPU_ISA": "AVX2"}}
    for start in (0, 1000, 2000):
        given.primitive("matmul", start + 10, start + 10 + mm_us, impl=impl)
    return given


@pytest.mark.long
def test_half_of_the_width_is_half_of_the_time(tmp_path: Path) -> None:
    found = answer(RULE, steps("brg:avx2", ["avx2", "avx512f"]), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 50_000)
    assert found.problem == "The library uses vectors of 256 bits, the processor has 512 (ONEDNN_MAX_CPU_ISA=AVX2)."


@pytest.mark.slow
def test_from_sse_on_fused_multiply_adds_count_too(tmp_path: Path) -> None:
    """A limit of AVX2 does not say that the library keeps to SSE: that is seen in names alone."""
    for limit, level in (("SSE41", "high"), ("AVX2", "medium")):
        given = steps("jit:sse41", ["sse4_1", "avx2", "fma"])
        given.about["environment"] = {"ONEDNN_MAX_CPU_ISA": limit}
        found = answer(RULE, given, tmp_path / limit)
        assert (found.status, found.saving_ns, found.confidence.split()[0].rstrip(":")) == ("found", 75_000, level)


@pytest.mark.long
def test_as_wide_as_the_processor_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps("brg:avx2", ["avx2"]), tmp_path / "avx2").status == "not found"
    assert answer(RULE, steps("brg:avx512_core", ["avx2", "avx512f"]), tmp_path / "avx512").status == "not found"


@pytest.mark.slow
def test_of_names_alone_only_those_that_show_a_width_count(tmp_path: Path) -> None:
    given = steps("gemm:jit", ["avx2", "avx512f"])
    for start in (0, 1000, 2000):
        given.primitive("reorder", start + 200, start + 300, impl="jit:avx2")
    assert answer(RULE, given, tmp_path / "said").saving_ns == 100_000
    given.about["environment"] = {}
    found = answer(RULE, given, tmp_path / "named")
    assert (found.saving_ns, found.evidence) == (50_000, ("reorder jit:avx2: 1.0 calls and 0.100 ms",))
    assert found.problem == "Names of implementations show vectors of 256 bits at most, the processor has 512."
    assert found.confidence.startswith("medium")


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps("brg:avx2", ["avx2", "avx512f"], 19), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)
