"""Ends of steps: the best evidence decides, and of its kind the first object."""

from __future__ import annotations

import pytest


class Owner:
    """A model or an optimizer."""


@pytest.fixture
def steps():
    from traceview_inject.steps import Steps

    seen = []
    steps = Steps(seen.append)
    steps.seen = seen
    return steps


def test_the_first_owner_counts(steps):
    one, two = Owner(), Owner()
    steps.begin()
    for owner in (one, two, one, two):
        steps.ended("forward", owner)
    assert steps.seen == [0, 1, 2]


def test_an_owner_that_is_gone_is_replaced(steps):
    steps.begin()
    steps.ended("forward", Owner())
    steps.ended("forward", Owner())
    assert steps.seen == [0, 1, 2]


def test_better_evidence_starts_over_until_recording_begins(steps):
    steps.begin()
    steps.ended("forward", Owner())
    steps.prefer("optimizer")
    steps.prefer("forward")
    steps.begin()
    steps.ended("forward", Owner())
    steps.ended("optimizer", Owner())
    assert steps.seen == [0, 1, 0, 1]
    steps.is_settled = True
    steps.prefer("call")
    assert steps.source == "optimizer"


def test_the_first_call_says_where_steps_begin(steps):
    for _ in range(3):
        steps.called()
    assert steps.seen == [0, 1, 2]


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock of the steps by a counter that goes on with each look."""
    from traceview_inject import steps

    ticks = iter(range(1000))
    monkeypatch.setattr(steps, "now_ns", lambda: next(ticks))
    monkeypatch.setattr(steps, "unix_ns", lambda: next(ticks))


def test_a_validation_between_steps_is_of_neither(steps, clock):
    train, validate = Owner(), Owner()
    steps.begin()
    for number in range(6):
        if number == 4:
            steps.passed(validate)
            steps.passed(validate)
        steps.ended("forward", train)
    (gap,) = steps.summary(2)["between"]
    assert steps.begins[4] > steps.ends[3] and gap[1] - gap[0] == steps.begins[4] - steps.ends[3] > 1
    assert steps.summary(5)["between"] == []


def test_what_comes_before_every_step_is_part_of_it(steps, clock):
    train, prepare, validate = Owner(), Owner(), Owner()
    steps.begin()
    for number in range(6):
        steps.passed(prepare)
        if number == 4:
            steps.is_under_way = True
            steps.passed(validate)
        steps.ended("forward", train)
    assert steps.summary(0)["between"] == []


def test_cost_leaves_out_the_first_step_and_the_warm_up(steps):
    steps.begins = [0, 1000, 2000, 3000, 4000]
    steps.ends = [900, 1010, 2030, 3500, 4040]
    expected = {"bare_step_ns": 20, "bare_steps": 2, "profiled_step_ns": 40, "profiled_steps": 1}
    assert steps.cost(wait=3, first=4) == expected
