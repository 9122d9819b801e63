"""A report as hostile and as varied as a trace can make it, for every renderer."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.analysis.model import Column, Look, Report, Section

LONG = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
)

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "two\nlines\r\tand a tab",
    "\u202egnp.exe\u2066x\u2069",
    "\x9b2J\u200b\u2028",
    "[bold red]x[/] [link=http://evil]y[/link] :smile:",
    "a|b `code` \\| **bold** _em_",
    "<script>alert(1)</script> <!-- &amp; ![i](http://evil/x.png)",
    "https://evil.example www.evil.example @somebody #12",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    'quo"te, comma',
    "# section: forged",
    "",
    "日本語の層",
)


@pytest.fixture
def golden() -> Path:
    return Path(__file__).parent / "golden"


@pytest.fixture
def report() -> Report:
    """Three sections: numbers of every size, a question without an answer, names that attack."""
    names = (Column("name", "VARCHAR", "kernel"), Column("calls", "BIGINT", "how often"))
    columns = (
        *names,
        Column("busy_ns", "HUGEINT", "device time"),
        Column("size_bytes", "BIGINT", "bytes"),
        Column("share_pct", "DOUBLE", "of all time"),
    )
    rows = (
        (LONG, 1234567, 2_621_000, 244_403_360, 61.25),
        ("ampere_sgemm_32x32_sliced1x4_tn", 3, 39_000, None, 0.02),
        ("sum of a BIGINT column", 1, 2**53 + 1, 2**62, float("nan")),
    )
    look = Look(headings={"share_pct": "of kernel time"}, kernels=("name",), leave_out=("size_bytes",))
    kernels = Section(
        "kernels", "By name", "Shares are of all kernel time.", columns, rows, "3 of 4 rows.", "SELECT 1", look=look
    )
    steps = Section("steps", "Steps", "", (Column("step", "BIGINT", ""),), (), "No steps in this trace.", "SELECT 2")
    attacks = Section("attacks", "Names", "", names, tuple((name, 1) for name in HOSTILE), None, "SELECT 3")
    return Report(
        "demo", "A demo", "Every kind of value.", (kernels, steps, attacks), ("Attributed: 97.0 %.", "\x1b[2J")
    )


@pytest.fixture
def hostile() -> tuple[str, ...]:
    return HOSTILE
