"""The overview: what is per step and rank, and of what."""

from __future__ import annotations

from pathlib import Path

from advised import training
from given import Given, pick, section


def test_waiting_and_views_are_no_work(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "train 0", 0, 100)
    for at, name in enumerate(("WaitForVar", "DeleteVariable", "aten::t", "aten::split", "aten::slice", "aten::mm")):
        given.op(name, 10 * at, 10 * at + 10)
    found = section(given.open(tmp_path), "overview/categories")
    assert pick(found, "category", "calls", "busy_ns") == [("gemm", 1, 10_000), ("(CPU idle)", None, 90_000)]


def test_an_operator_that_began_before_the_steps_is_counted_where_it_goes_on(tmp_path: Path) -> None:
    """It had 12 ms and no call; and of 495 calls in four steps one was 494.99999."""
    given = Given()
    for step in range(3):
        given.span("step", f"train {step}", 100 * step + 100, 100 * step + 200)
    given.op("aten::sigmoid_backward", 80, 180)
    given.op("aten::mm", 90, 110)
    for step in range(3):
        for at in range(5 + step):
            given.op("aten::relu", 100 * step + 185 + at, 100 * step + 186 + at)
    found = section(given.open(tmp_path), "overview/categories")
    calls = dict(pick(found, "category", "calls"))
    assert calls["activation"] == round((1 + 5 + 6 + 7) / 3, 6)


def test_several_devices_of_a_rank_are_added_up_and_shares_are_of_the_step_of_each(tmp_path: Path) -> None:
    """Two devices work at once, 60 of 100 us."""
    given = training(2, 100)
    for start in (0, 100):
        for device in (0, 1):
            given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 70, launched=start + 1, device=device)
    with given.open(tmp_path) as connection:
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "busy_pct", "step_pct") == [
            ("gemm", 120_000, 100, 60),
            ("(GPU idle)", 80_000, None, 40),
        ]
        assert pick(section(connection, "overview/step"), "device", "active_ns", "idle_ns") == [
            ("gpu 0", 60_000, 40_000),
            ("gpu 1", 60_000, 40_000),
        ]
