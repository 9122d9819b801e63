"""Open ranges close innermost first, whatever an exception left open, each thread's on their own."""

from __future__ import annotations

import threading

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture
def ranges():
    from traceview_inject.torch_ranges import Ranges

    return Ranges()


def recorded(work):
    """The annotations of `work` as (name, start, end), in order of their start."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        work()
    spans = [(event.name, event.time_range.start, event.time_range.end) for event in profiler.events()]
    return sorted((span for span in spans if span[0].startswith("r: ")), key=lambda span: span[1])


def test_popping_closes_what_was_left_open_inside(ranges):
    def work():
        ranges.push("forward", ["r: forward"], False)
        ranges.push(1, ["r: conv1"], False, outermost=False)
        ranges.push(2, ["r: left open by an exception"], False, outermost=False)
        assert ranges.pop("forward") is True
        assert not ranges.open

    (_, start, end), *inner = recorded(work)
    assert [name for name, *_ in inner] == ["r: conv1", "r: left open by an exception"]
    assert all(start <= begin and stop <= end for _, begin, stop in inner)


def test_what_is_open_is_known_also_where_nothing_is_recorded(ranges):
    assert not ranges.has("data") and not ranges.has_module()
    ranges.push("data", (), False)
    ranges.push(id(ranges), (), False, outermost=False)
    assert ranges.has("data") and ranges.has_module()
    assert ranges.pop(id(ranges)) is False
    assert not ranges.has_module()


def test_what_is_not_open_is_no_outermost(ranges):
    ranges.push("forward", (), False)
    assert ranges.pop("backward") is False
    assert ranges.has("forward")


def test_one_entry_may_open_several_ranges(ranges):
    spans = recorded(lambda: (ranges.push(1, ["r: phase", "r: module"], False), ranges.close_all()))
    assert [name for name, *_ in spans] == ["r: phase", "r: module"]
    assert spans[1][2] <= spans[0][2]


def test_another_threads_ranges_are_its_own(ranges):
    ranges.push("forward", (), False)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(ranges.has("forward")))
    thread.start()
    thread.join()
    assert seen == [False]
