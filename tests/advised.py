"""One rule on a small capture: its answer."""

from __future__ import annotations

from pathlib import Path

from given import Given

from traceview import advice
from traceview.model import Finding


def answer(rule: str, given: Given, folder: Path, **params: str) -> Finding:
    """What the rule says of these rows."""
    with given.open(folder) as connection:
        return advice.run(connection, advice.load([rule]), params)[0]


def training(steps: int = 3, length: float = 1000, device: str | None = "NVIDIA A100-SXM4-40GB") -> Given:
    """Steps of equal length, in microseconds, on one device; without a device's name on a CPU."""
    given = Given()
    if device:
        given.device(device)
    for number in range(steps):
        given.span("step", f"step#{number + 1}", number * length, (number + 1) * length)
    return given
