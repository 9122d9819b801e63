"""Device time by library; overlaps count once."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section


def test_libraries_by_the_names_of_kernels(tmp_path: Path) -> None:
    given = Given()
    given.kernel("ampere_sgemm_128x64_nn", 0, 10)
    given.kernel("void at::native::vectorized_elementwise_kernel<4>(int)", 5, 15, stream=8)
    given.kernel("my_kernel", 20, 25)
    found = section(given.open(tmp_path), "libraries/libraries")
    assert pick(found, "library", "busy_ns", "busy_pct") == [
        ("cublas", 10_000.0, 50.0),
        ("(unknown)", 5_000.0, 25.0),
        ("pytorch", 5_000.0, 25.0),
    ]
