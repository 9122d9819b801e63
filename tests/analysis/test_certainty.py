"""Texts of findings as people read them: times rounded, whole counts, the singular."""

from __future__ import annotations

import pytest

from traceview.analysis import certainty


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("12.0 copies move 1.25 MB; 3,456.789 ms in all", "12 copies move 1.25 MB; 3.5 s in all"),
        ("1.0 copies move 1.25 MB", "1 copy moves 1.25 MB"),
        (
            "1.0 chains of elementwise operators take 0.123 ms; one kernel",
            "1 chain of elementwise operators takes 120 us; one kernel",
        ),
        (
            "1.0 kernels with fewer blocks than the device has cores (108) take 2.000 ms.",
            "1 kernel with fewer blocks than the device has cores (108) takes 2 ms.",
        ),
        ("sgemm: 1.0 calls and 2.040 ms; the others take 3", "sgemm: 1 call and 2 ms; the others take 3"),
        ("fp32: 1.0 times 10.812 ms", "fp32: 1 time 11 ms"),
        ("11.0 calls, 2.1 times, 0.1 gaps, rank 1 takes it", "11 calls, 2.1 times, 0.1 gaps, rank 1 takes it"),
    ],
)
def test_rounded(text: str, shown: str) -> None:
    assert certainty.rounded(text, 2) == shown
