"""Compiling that a log tells of, beside the steps it averages over: once per run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asked import opened
from given import Given, section

from traceview.analysis import advice
from traceview.analysis.model import Finding

RULE = "compile_at_start"
REASON = "no log that prints both its steps and how long compiling took."
TABLE = """\
<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Class name>
  97.9%    97.9%       0.020s       1.58e-04s     C       12       6   theano.tensor.nnet.corr.CorrMM
"""


def profile(compiling: str, steps: str, message: str = "train.py:10") -> str:
    return f"""\
Function profiling
==================
  Message: {message}
  Time in 20 calls to Function.__call__: {steps}s
  Total compile time: {compiling}s
    Theano Optimizer time: 1.5e+00s
    Theano Linker time (includes C, CUDA code generation/compiling): 2.5e+00s
{TABLE}"""


def found(folder: Path, text: str) -> Finding:
    with opened(folder, text) as connection:
        (said,) = advice.run(connection, advice.load([RULE]), {})
    return said


@pytest.mark.slow
def test_compiling_is_a_share_of_all_that_the_log_tells_of(tmp_path: Path) -> None:
    said = found(tmp_path, profile("4.1e+00", "2.05e+01"))
    assert (said.status, said.saving_ns, said.run_ns) == ("found", 4_100_000_000, 24_600_000_000)
    assert said.problem == "Compiling took 4.10 s; all steps that the log averages over 20.50 s."
    assert said.evidence == (
        "train.py:10 Total compile: 4.100 s",
        "train.py:10 Linker: 2.500 s",
        "train.py:10 Optimizer: 1.500 s",
    )


def test_below_a_tenth_it_is_not(tmp_path: Path) -> None:
    assert found(tmp_path, profile("4.1e+00", "4.1e+01")).status == "not found"


def test_functions_add_up_and_their_printed_sum_counts_nothing_twice(tmp_path: Path) -> None:
    text = (
        profile("4.0e+00", "2.0e+00") + profile("1.0e+00", "3.0e+00") + profile("5.0e+00", "5.0e+00", "Sum of all(2)")
    )
    said = found(tmp_path, text)
    assert (said.saving_ns, said.run_ns) == (5_000_000_000, 10_000_000_000)
    assert [line for line in said.evidence if "Total" in line] == [
        "train.py:10 Total compile: 4.000 s",
        "train.py:10 Total compile: 1.000 s",
    ]


def test_the_overview_says_it_of_a_real_profile(root: Path, captures: Any) -> None:
    capture = captures.open(root / "samples/theano_profile/theano-1.0.5-lenet-cpu.txt.gz")
    (row,) = section(capture, "overview/compiling")
    assert row["text"] == "Compiling 14.03 s (linker 12.34 s, optimizer 1.66 s), as long as 59 steps"


def test_a_profiler_that_prints_calls_that_load_code_is_counted(tmp_path: Path) -> None:
    text = """\
==7== NVPROF is profiling process 7, command: ./train
==7== API calls:
Time(%)      Time     Calls       Avg       Min       Max  Name
 60.00%  300.00ms         3  100.00ms  90.00ms  110.00ms  cuModuleLoadDataEx
 40.00%  200.00ms         3   66.00ms  60.00ms   70.00ms  cudaFree
"""
    with opened(tmp_path, text) as capture:
        assert [row["text"] for row in section(capture, "overview/compiling")] == ["Compiling and loading 0.30 s"]
        (said,) = advice.run(capture, advice.load([RULE]), {})
    assert (said.status, said.reason) == ("cannot tell", REASON)


def test_code_loaded_before_the_first_step_is_told_of_a_timeline(tmp_path: Path) -> None:
    given = Given()
    for start in (1_000_000, 1_001_000, 1_002_000):
        given.span("step", f"step {start}", start, start + 1000)
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 900, launched=start + 1)
    given.call("cuModuleLoadData", 100, 40_100)
    given.call("cuLinkComplete", 200, 300)
    with given.open(tmp_path) as capture:
        (row,) = section(capture, "overview/compiling")
    assert row["text"] == "Compiling and loading 0.04 s, as long as 40 steps"


@pytest.mark.parametrize("late", [1_000_500, 1_002_500])
def test_what_is_compiled_in_the_steps_is_left_to_the_other_rule(tmp_path: Path, late: float) -> None:
    given = Given()
    for start in (1_000_000, 1_001_000, 1_002_000):
        given.span("step", f"step {start}", start, start + 1000)
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 900, launched=start + 1)
    given.call("cuModuleLoadData", late, late + 200)
    with given.open(tmp_path) as capture:
        assert section(capture, "overview/compiling") == []


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    with Given().open(tmp_path) as capture:
        (said,) = advice.run(capture, advice.load([RULE]), {})
    assert (said.status, said.reason) == ("cannot tell", REASON)
