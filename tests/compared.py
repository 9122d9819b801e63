"""Small runs to compare, and one section of their comparison as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asked import READING
from given import Given, conv, conv_backward, write

from traceview.analysis import compare
from traceview.analysis.compare import Run
from traceview.analysis.model import Report
from traceview.store import views

_MEASURED: dict[str, Run] = {}

GEMM = "ampere_sgemm_128x64_nn"
IMPLICIT = "implicit_convolve_sgemm"
WINOGRAD = "ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"


def measured(given: Given | Sequence[Given], folder: Path, whole: bool | None = None, **steps: int) -> Run:
    """The facts of a capture of these rows, called after its folder. Equal rows are measured once."""
    ranks = [given] if isinstance(given, Given) else given
    key = repr(([vars(rank) for rank in ranks], whole, steps))
    if key not in _MEASURED:
        write(folder, *ranks)
        with views.connect(folder, READING) as connection:
            is_whole = not compare.has_steps(connection) if whole is None else whole
            chosen = (steps["first"], steps["last"]) if steps else None
            _MEASURED[key] = compare.measure(connection, folder.name, chosen, is_whole)
    return replace(_MEASURED[key], name=folder.name)


def table(report: Report, section: str) -> list[dict[str, Any]]:
    """The rows of one section by their columns."""
    found = next(part for part in report.sections if part.name == section)
    return [dict(zip([column.name for column in found.columns], row, strict=True)) for row in found.rows]


def stepping(lengths: Iterable[float], busy: float = 100, rank: int = 0) -> Given:
    """Steps of these lengths in microseconds, each with a matrix product that takes `busy` of them."""
    given = Given(rank)
    given.command = ["python", "train.py"]
    given.device("NVIDIA A100-SXM4-40GB")
    start = 0.0
    for number, length in enumerate(lengths):
        given.span("step", f"step#{number + 1}", start, start + length)
        given.kernel(GEMM, start + 10, start + 10 + busy, launched=start + 5)
        start += length
    return given


def network(
    kernels: Sequence[str], batch: int = 4, names: Sequence[str] = ("conv1", "conv2"), backward: bool = False
) -> Given:
    """Three steps of 1000 microseconds of two convolutions, 8 -> 8 and 8 -> 16 channels, computed by these kernels."""
    given = stepping((1000, 1001, 999), busy=10)
    x, filters = (batch, 8, 16, 16), ((8, 8, 3, 3), (16, 8, 3, 3))
    for step in range(3):
        for number, (kernel, name) in enumerate(zip(kernels, names, strict=True)):
            at = 1000 * step + 100 + 200 * number
            given.span("module", name, at - 5, at + 50)
            conv(given, at, x, filters[number], padding=1)
            given.kernel(kernel, at + 20, at + 20 + 40 * (number + 1), launched=at + 2)
            if backward:
                y = (batch, filters[number][0], 16, 16)
                conv_backward(given, at + 30, x, filters[number], y, padding=1)
                given.kernel("wgrad_alg0_engine", at + 120, at + 150, launched=at + 32)
    return given
