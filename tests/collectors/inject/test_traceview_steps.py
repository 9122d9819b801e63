"""What ends a step: the best evidence, and of its kind the first object."""

from __future__ import annotations

import pytest


class Owner:
    """A model or an optimizer."""


@pytest.fixture
def steps():
    from traceview_steps import Steps

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


def test_cost_leaves_out_the_first_step_and_the_warm_up(steps):
    steps.begins = [0, 1000, 2000, 3000, 4000]
    steps.ends = [900, 1010, 2030, 3500, 4040]
    expected = {"bare_step_ns": 20, "bare_steps": 2, "profiled_step_ns": 40, "profiled_steps": 1}
    assert steps.cost(wait=3, first=4) == expected
