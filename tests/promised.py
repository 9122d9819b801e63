"""The last line of a sample that is timed: what it has to hold in every framework."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest


def promised(output: str) -> dict[str, Any]:
    """The last line, held against itself and against the line before it."""
    *_, mean, line = output.splitlines()
    last: dict[str, Any] = json.loads(line)
    names = {"framework", "version", "model", "mode", "batch", "threads", "device", "layout", "optimizer", "parameters"}
    names |= {"loss", "updated", "steps", "discarded", "mean_ms", "sd_ms", "step_ms"}
    assert set(last) - {"backend"} == names
    times = last["step_ms"]
    assert len(times) == last["steps"] - last["discarded"] and min(times) > 0
    assert last["mean_ms"] == pytest.approx(statistics.mean(times))
    assert last["sd_ms"] == (pytest.approx(statistics.stdev(times)) if len(times) > 1 else None)
    assert mean.startswith(f"mean of {len(times)} steps after the first {last['discarded']}: {last['mean_ms']:.2f} ms")
    return last
