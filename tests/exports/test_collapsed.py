"""Collapsed stacks: root first, one line each, with the device's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from timelines import event, opened, written


def test_stacks_are_root_first_with_device_time(file: Any) -> None:
    lines = file("collapsed").decode().splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines)
    assert found["rank 0 gpu 0;aten::conv2d;aten::cudnn_convolution;implicit_convolve_sgemm"] == "40000"
    assert found["rank 0 gpu 0;(no operator);Memcpy HtoD (Pageable -> Device)"] == "10000"
    assert sum(map(int, found.values())) == 80_000


def test_no_name_makes_a_frame_or_a_line_of_its_own(file: Any) -> None:
    lines = file("collapsed").decode().splitlines()
    hostile = [line for line in lines if "evil" in line]
    assert len(hostile) == 1 and hostile[0].count(";") == 3
    assert all(ord(letter) >= 32 for line in lines for letter in line)


def test_a_deep_stack_loses_its_outermost_operators(tmp_path: Path) -> None:
    ops = [event("cpu_op", f"o{n}", n, 2000 - 2 * n) for n in range(300)]
    call = event("cuda_runtime", "cudaLaunchKernel", 350, 1, correlation=1)
    kernel = event("kernel", "k", 400, 7, 1, device=0, stream=1, correlation=1)
    line = next(
        line
        for line in written(opened(tmp_path, [*ops, call, kernel]), "collapsed").decode().splitlines()
        if "k 7" in line
    )
    frames = line.rsplit(" ", 1)[0].split(";")
    assert frames[-1] == "k" and frames[-2] == "o299" and frames[1] == "o200" and len(frames) == 102


def test_of_what_runs_deeper_than_a_thousand_operators_the_stack_is_not_known(tmp_path: Path) -> None:
    ops = [event("cpu_op", "o", n, 8000 - 2 * n) for n in range(1002)]
    calls = [event("cuda_runtime", "cudaLaunchKernel", at, 1, correlation=at) for at in (999, 1500)]
    kernels = [event("kernel", "k", 9000 + at, 7, 1, device=0, stream=1, correlation=at) for at in (999, 1500)]
    lines = written(opened(tmp_path, [*ops, *calls, *kernels]), "collapsed").decode().splitlines()
    found = {line for line in lines if ";k " in line}
    assert found == {"rank 0 gpu 0;" + "o;" * 100 + "k 7000", "rank 0 gpu 0;(stack not known);k 7000"}
