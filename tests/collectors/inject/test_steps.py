"""Ends of steps: the best evidence decides, and of its kind the first object."""

from __future__ import annotations

import weakref

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


def test_of_optimizers_that_take_turns_the_last_ends_a_step(steps):
    one, two = Owner(), Owner()
    steps.begin()
    for owner in (one, two) * 5:
        steps.ended("forward", owner)
    # Two of the one until two rounds are known, then every one of the other.
    assert steps.seen == [0, 1, 2, 3, 4, 5] and steps.owner() is two


def test_an_optimizer_that_comes_now_and_then_ends_no_step(steps):
    often, rare = Owner(), Owner()
    steps.begin()
    for number in range(12):
        steps.ended("forward", often)
        if number % 4 == 3:
            steps.ended("forward", rare)
    assert steps.owner() is often and len(steps.ends) == 12


@pytest.mark.parametrize(
    ("turns", "ends"),
    [("dg", 20), ("gdd", 20), ("abc", 20), ("abcc", 20), ("ddg", 40), ("dddddg", 100), ("gddddd", 20)],
)
def test_one_that_steps_several_times_in_a_round_ends_no_step_after_the_first(steps, turns, ends):
    """As in a GAN: one step per round where the first optimizer steps once, else one for each of its own."""
    owners = {turn: Owner() for turn in turns}
    steps.prefer("optimizer")
    steps.begin()
    for turn in turns * 20:
        steps.ended("optimizer", owners[turn])
    assert len(steps.ends) == ends


@pytest.mark.parametrize("first", [2, 6])
@pytest.mark.parametrize("is_settled", [False, True])
def test_a_second_stage_of_training_is_counted_anew(steps, first, is_settled):
    """The head is trained first, then all of the model; a GAN's judge that steps five times in a round is no stage."""
    head, whole = Owner(), Owner()
    steps.prefer("optimizer")
    steps.begin()
    steps.is_settled = is_settled
    for owner in [head] * first + [whole] * 30:
        steps.ended("optimizer", owner)
    assert steps.owner() is whole
    assert steps.seen == [*range(first + 1), *range(25)]


def test_a_model_that_is_called_many_times_within_anothers_round_is_no_stage(steps):
    """As a decoder, once for each word."""
    encoder, decoder = Owner(), Owner()
    steps.begin()
    for owner in ([encoder] + [decoder] * 50) * 4:
        steps.ended("forward", owner)
    assert steps.owner() is encoder and len(steps.ends) == 4


def test_an_optimizer_that_was_left_does_not_count_again(steps):
    """Else no recording would end where stages are shorter than it."""
    one, two = Owner(), Owner()
    steps.prefer("optimizer")
    steps.begin()
    for owner in ([one] * 7 + [two] * 7) * 3:
        steps.ended("optimizer", owner)
    assert steps.owner() is two and len(steps.ends) == 15


def test_steps_that_were_recorded_are_not_counted_anew(steps):
    one, two = Owner(), Owner()
    steps.prefer("optimizer")
    steps.begin()
    steps.is_recorded = True
    for owner in [one] * 2 + [two] * 3000:
        steps.ended("optimizer", owner)
    assert steps.owner() is one and len(steps.ends) == 2 and len(steps.round) == 1000


def test_no_optimizer_is_held(steps):
    one, two = Owner(), Owner()
    steps.begin()
    for owner in (one, two, one, two):
        steps.ended("forward", owner)
    held = weakref.ref(two)
    del owner, two
    assert held() is None


@pytest.mark.parametrize(
    ("turns", "shared"), [("d", None), ("dg", None), ("ddg", None), ("dddddg", None), ("ddddddddddg", [0, 4])]
)
def test_the_share_of_a_second_optimizer_is_told_where_the_recorded_steps_have_another(steps, turns, shared):
    """Steps 4 to 7 are recorded, 1, 2 and 9 to 40 timed without: with 5 to 1 the second one has a part in 5, 10, ...,
    about the same share of both; with 10 to 1 in 10, 20, 30 and 40."""
    owners = {turn: Owner() for turn in turns}
    steps.prefer("optimizer")
    steps.begin()
    for turn in turns * 50:
        if len(steps.ends) < 41:
            steps.ended("optimizer", owners[turn])
    assert steps.cost(wait=3, first=4, recorded=4)["shared"] == shared


def test_who_ends_steps_is_settled_when_recording_begins(steps):
    one, two = Owner(), Owner()
    steps.begin()
    steps.is_settled = True
    for owner in (one, two) * 5:
        steps.ended("forward", owner)
    assert steps.owner() is one and len(steps.ends) == 5


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


def test_what_comes_within_steps_does_not_come_before_each(steps, clock):
    """A validation after every third of four passes falls into the first three steps, and behind the third."""
    train, validate = Owner(), Owner()
    steps.begin()
    for number in range(1, 21):
        steps.is_under_way = True
        if number % 4 == 0:
            steps.ended("forward", train)
        if number % 3 == 0:
            steps.passed(validate)
    assert len(steps.summary(0)["between"]) == 1 and steps.begins[3] > steps.ends[2]


def timed(steps, times):
    """Steps that took these times, one after another."""
    steps.begins = [1000 * number for number in range(len(times) + 1)]
    steps.ends = [1000 * number + time for number, time in enumerate(times)]


def test_cost_leaves_out_the_first_step_and_the_warm_up(steps):
    timed(steps, [900, 10, 30, 500, 40])
    found = steps.cost(wait=3, first=4, recorded=1)
    assert (found["bare_step_ns"], found["bare_steps"]) == (20, 2)
    assert (found["profiled_step_ns"], found["profiled_steps"]) == (40, 1)
    assert found["unsettled_ns"] is None


def test_steps_after_the_recording_tell_what_a_step_takes_without_it(steps):
    # The first one after the recording has cold caches; two before it, one of them an outlier.
    timed(steps, [900, 276, 6, 500, 40, 41, 90, *range(10, 20)])
    found = steps.cost(wait=3, first=4, recorded=2)
    assert (found["bare_step_ns"], found["bare_steps"]) == (14, 12)
    assert (found["bare_low_ns"], found["bare_high_ns"]) == (12, 17)
    assert (found["profiled_step_ns"], found["unsettled_ns"]) == (40, None)


def test_the_mean_without_a_profiler_counts_slow_steps_if_such_ones_were_recorded(steps):
    # Each fourth step takes 120, recorded or not; the second one compiles, and nothing like it was recorded.
    timed(steps, [900, 5000, 1, 1, 2, 122, 2, 2, 9, *[120, 1, 1, 1] * 5])
    found = steps.cost(wait=3, first=4, recorded=4)
    assert (found["bare_step_ns"], found["bare_mean_ns"]) == (1, (1 + 5 * 123) // 21)


@pytest.mark.parametrize(("after", "unsettled"), [([85] * 8, 130), ([85] * 7, None), ([85, 120] * 6, None)])
def test_steps_that_became_faster_had_not_settled(steps, after, unsettled):
    timed(steps, [900, 130, 131, 500, 140, 99, *after])
    assert steps.cost(wait=3, first=4, recorded=1)["unsettled_ns"] == unsettled
