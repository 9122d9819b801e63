"""Time before the first kernel, and how much of it compiles."""

from __future__ import annotations

from pathlib import Path

from given import Given, section


def test_the_gap_before_the_first_kernel_and_the_compiler_in_it(tmp_path: Path) -> None:
    given = Given()
    given.op("GpuElemwise", 0, 5)
    given.call("nvrtcCompileProgram", 10, 50)
    given.call("cuModuleLoadData", 40, 70)  # overlaps the compiler by 10
    given.kernel("k", 100, 200, launched=90)
    given.call("cuModuleLoadData", 150, 160)  # after the first kernel
    (row,) = section(given.open(tmp_path), "launches/first")
    assert (row["gap_ns"], row["recording_pct"]) == (100_000, 50.0)
    assert (row["compile_ns"], row["compile_calls"], row["compile_pct"]) == (60_000, 2, 60.0)
    assert (row["longest_name"], row["longest_ns"]) == ("nvrtcCompileProgram", 40_000)


def test_without_a_host_there_is_no_gap(tmp_path: Path) -> None:
    given = Given()
    given.kernel("k", 100, 200)
    assert section(given.open(tmp_path), "launches/first") == []
