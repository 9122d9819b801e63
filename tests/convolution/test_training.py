"""Training steps under a plan, as `traceview schedule` times them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from traceview.convolution import training


def test_a_pass_takes_the_time_of_all_its_calls_in_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that runs three times in a step: 10 ns each by the plan, 40 ns by PyTorch's own, once 5 in one call."""
    layer = SimpleNamespace(is_off=False, clock=None)

    def steps(model: object, inputs: object) -> Iterator[float]:
        for turn in range(99):
            for call in range(3):
                if layer.clock:
                    layer.clock("shared", "fprop", 40 if layer.is_off else 5 if (turn, call) == (5, 0) else 10)
            yield 0.0

    monkeypatch.setattr(training, "trained", lambda task: (None, ()))
    monkeypatch.setattr(training, "steps", steps)
    monkeypatch.setattr(training.runtime, "apply", lambda *given: [layer])
    task: dict[str, Any] = {"plan": {}}
    (row,) = training.confirm(task, print)["rows"]
    assert row == {"module": "shared", "direction": "fprop", "time_ns": 25, "own_ns": 120}
