"""Measuring: turns in both orders, times, memory and what libraries print."""

from __future__ import annotations

import ctypes
import time

import pytest

torch = pytest.importorskip("torch")

from traceview.convolution import measure  # noqa: E402


def test_every_second_turn_is_in_the_opposite_order() -> None:
    assert list(measure.turns("abc", 3)) == list("abccbaabc")


def test_times_are_those_of_the_run() -> None:
    spent, result = measure.timed(lambda: time.sleep(0.05) or 7)
    assert result == 7 and spent.wall_ns > 5e7 > spent.cpu_ns
    assert measure.load_ns(spent) == spent.cpu_ns and measure.load_ns(spent, threads=2) == spent.wall_ns
    assert measure.load_ns(spent, "cuda") == spent.wall_ns


@pytest.mark.slow
def test_memory_is_the_most_at_any_time_and_operators_are_named() -> None:
    def work() -> torch.Tensor:
        waste = torch.empty(1 << 20)
        del waste
        return torch.ones(1 << 10) * 2

    result, profile = measure.profiled(work)
    assert result.sum() == 2 << 10
    assert 4 << 20 <= measure.most_allocated(profile) < (4 << 20) + (1 << 14)
    assert "aten::mul" in measure.names(profile)


def test_lines_that_a_library_prints_are_collected_and_later_ones_are_not(capfd: pytest.CaptureFixture[str]) -> None:
    libc = ctypes.CDLL(None)
    with measure.printed() as lines:
        libc.puts(b"from the library")
    libc.puts(b"behind it")
    libc.fflush(None)
    assert lines == ["from the library"] and capfd.readouterr().out == "behind it\n"
