"""Operators between modules through which gradients flow."""

from __future__ import annotations

from pathlib import Path

from given import Given, rows


def test_the_loss_is_what_has_a_gradient_and_no_module(tmp_path: Path) -> None:
    given = Given()
    given.span("module", "Net (Net)", 0, 20)
    given.span("phase", "optimizer", 200, 220)

    def op(name: str, start: int, end: int, **facts: object) -> None:
        given.add("ops", name=name, pid=1, tid=1, start_ns=1000 * start, dur_ns=1000 * (end - start), **facts)

    op("aten::mm", 5, 10, sequence=1)
    op("aten::sub", 30, 34, sequence=2)
    op("aten::log_softmax", 40, 50, sequence=3)
    op("aten::_log_softmax", 42, 48)
    op("aten::argmax", 60, 65)
    op("LogSoftmaxBackward0", 100, 110, sequence=3, forward_thread=1)
    op("SubBackward0", 112, 118, sequence=2, forward_thread=1)
    op("aten::sub", 113, 115, sequence=10)
    op("aten::neg", 116, 117)
    op("MmBackward0", 120, 130, sequence=1, forward_thread=1)
    op("torch::autograd::AccumulateGrad", 140, 150)
    op("aten::mul", 205, 210, sequence=9)
    found = rows(given.open(tmp_path), "SELECT o.name FROM loss_ops l JOIN ops o ON o.id = l.op_id ORDER BY o.start_ns")
    assert [name for (name,) in found] == [
        "aten::sub",
        "aten::log_softmax",
        "aten::_log_softmax",
        "LogSoftmaxBackward0",
        "SubBackward0",
        "aten::sub",
        "aten::neg",
    ]
