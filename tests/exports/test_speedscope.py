"""speedscope: every profile is a sequence of starts and ends that nest, as its schema wants them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from timelines import EVENTS, HOSTILE, event, opened, written


@pytest.mark.slow
def test_starts_and_ends_nest(tmp_path: Path) -> None:
    ops = [event("cpu_op", f"o{n}", n % 31, n % 7, tid=n % 2) for n in range(200)]
    file = json.loads(written(opened(tmp_path, EVENTS + ops), "speedscope"))
    names = [frame["name"] for frame in file["shared"]["frames"]]
    assert HOSTILE in names and file["$schema"].endswith("file-format-schema.json")
    n_slices = 0
    for profile in file["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        opened_frames, last = [], profile["startValue"]
        for each in profile["events"]:
            assert last <= each["at"] <= profile["endValue"]
            last = each["at"]
            if each["type"] == "O":
                opened_frames.append(each["frame"])
                n_slices += 1
            else:
                assert opened_frames.pop() == each["frame"]
        assert not opened_frames
    assert n_slices >= len(ops) + 9


@pytest.mark.slow
def test_profiles_are_tracks(file: Any) -> None:
    profiles = json.loads(file("speedscope"))["profiles"]
    names = [profile["name"] for profile in profiles]
    assert names[0] == "rank 0 traceview convolution calls" and "rank 0 GPU 0 stream 2" in names
    stream = profiles[names.index("rank 0 GPU 0 stream 2")]
    assert [each["at"] for each in stream["events"]] == [220_000, 230_000]
    # It opens on the stream with most work.
    assert names[json.loads(file("speedscope"))["activeProfileIndex"]] == "rank 0 GPU 0 stream 1"
