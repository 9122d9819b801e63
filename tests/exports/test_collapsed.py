"""Collapsed stacks: root first, one line each, with the device's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from timelines import event, opened, written

from traceview.render.characters import clean


@pytest.mark.slow
def test_stacks_are_root_first_with_device_time(file: Any) -> None:
    lines = file("collapsed").decode().splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines)
    assert found["rank 0 gpu 0;aten::conv2d;aten::cudnn_convolution;implicit_convolve_sgemm"] == "40000"
    assert found["rank 0 gpu 0;(no operator);Memcpy HtoD (Pageable -> Device)"] == "10000"
    assert sum(map(int, found.values())) == 80_000


@pytest.mark.slow
def test_no_name_makes_a_frame_or_a_line_of_its_own(file: Any) -> None:
    lines = file("collapsed").decode().splitlines()
    hostile = [line for line in lines if "evil" in line]
    assert len(hostile) == 1 and hostile[0].count(";") == 3
    assert all(clean(line) == line for line in lines)
    assert r"evil \x1b]0;x".replace(";", " ") in hostile[0] and r"\u202e\x00" in hostile[0]


@pytest.mark.slow
def test_what_acts_or_hides_in_a_name_is_an_escape(tmp_path: Path) -> None:
    names = ["a\x9b2Jb", "a\u202eb", "a\u200bb", "ab", "a\u00a0b", "größe"]
    calls = [event("cuda_runtime", "cudaLaunchKernel", n, 0.1, correlation=n) for n in range(len(names))]
    kernels = [
        event("kernel", name, 1000 + 10 * n, 7, 1, device=0, stream=1, correlation=n) for n, name in enumerate(names)
    ]
    lines = written(opened(tmp_path, [*calls, *kernels]), "collapsed").decode().splitlines()
    shown = {line.split(";")[-1].rsplit(" ", 1)[0] for line in lines}
    assert shown == {r"a\x9b2Jb", r"a\u202eb", r"a\u200bb", "ab", r"a\xa0b", "größe"}


@pytest.mark.long
def test_a_deep_stack_loses_its_outermost_operators_and_beyond_300_it_is_not_known(tmp_path: Path) -> None:
    ops = [event("cpu_op", f"o{n}", n, 2000 - 2 * n) for n in range(302)]
    calls = [event("cuda_runtime", "cudaLaunchKernel", at, 0.1, correlation=n) for n, at in ((1, 299.5), (2, 400))]
    kernels = [event("kernel", "k", 1000 * n, 7, 1, device=0, stream=1, correlation=n) for n in (1, 2)]
    lines = written(opened(tmp_path, [*ops, *calls, *kernels]), "collapsed").decode().splitlines()
    innermost = ";".join(f"o{n}" for n in range(200, 300))
    assert set(lines) == {f"rank 0 gpu 0;{innermost};k 7000", "rank 0 gpu 0;(stack not known);k 7000"}
