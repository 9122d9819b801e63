"""Memory snapshots of PyTorch: pairs, what was there before, both totals; and pickles that are made to harm."""

from __future__ import annotations

import pickle
import pickletools
import random
import struct
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import opened

from traceview import store
from traceview.decode.files import Peek
from traceview.errors import InputError
from traceview.paths import content
from traceview.readers import READERS, cuda_snapshot

FRAMES = [
    {"filename": "CUDACachingAllocator.cpp", "line": 0, "name": "malloc"},
    {"filename": "/venv/lib/python3.12/site-packages/torch/nn/linear.py", "line": 5, "name": "forward"},
    {"filename": "/home/me/train.py", "line": 42, "name": "step"},
]


def event(action: str, address: int, size: int, at: int, frames: Any = FRAMES) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": 10**15 + at, "frames": frames}


def snapshot() -> dict[str, Any]:
    """Two segments; two pieces from before, of which one is released, and two allocations, of which one is."""
    blocks = [
        {"address": 4096, "size": 512, "requested_size": 400, "state": "active_allocated", "frames": []},
        {"address": 4608, "size": 1536, "requested_size": 1536, "state": "inactive", "frames": []},
    ]
    more = [{"address": 8192, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": FRAMES}]
    segments = [
        {"device": 0, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small", "blocks": blocks},
        {"device": 0, "address": 8192, "total_size": 1024, "stream": 0, "segment_type": "small", "blocks": more},
    ]
    trace = [
        event("free_requested", 4608, 600, 0), event("free_completed", 4608, 600, 1),
        event("segment_alloc", 8192, 1024, 2), event("alloc", 8192, 1000, 3),
        event("alloc", 4608, 300, 4), event("free_requested", 4608, 300, 6), event("free_completed", 4608, 300, 7),
    ]  # fmt: skip
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {"expandable_segments": False}}


QUERY = "SELECT address, size_bytes, allocated_ns, freed_ns, line FROM allocations ORDER BY address, allocated_ns"


def read(folder: Path, found: Any, protocol: int = 4) -> duckdb.DuckDBPyConnection:
    return opened(folder, found if isinstance(found, bytes) else pickle.dumps(found, protocol), "memory.pickle")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_allocations_and_both_totals(tmp_path: Path, protocol: int) -> None:
    connection = read(tmp_path, snapshot(), protocol)
    assert connection.execute(QUERY).fetchall() == [
        (4096, 400, None, None, None),
        (4608, 300, 4000, 6000, 42),
        (4608, 600, None, 0, None),
        (8192, 1000, 3000, None, 42),
    ]
    samples = connection.execute("SELECT name, list(value ORDER BY start_ns) FROM counters GROUP BY name ORDER BY name")
    assert samples.fetchall() == [
        ("allocated_bytes", [400, 400, 400, 1400, 1700, 1400, 1400]),
        ("largest_free_bytes", [1536]),
        ("reserved_bytes", [2048, 2048, 3072, 3072, 3072, 3072, 3072]),
    ]
    assert connection.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(10**18,)]
    check = (content("queries") / "checks/allocations_add_up.sql").read_text(encoding="utf-8")
    assert connection.execute(check).fetchall() == []


def test_an_allocation_that_failed_is_said_and_no_damage(tmp_path: Path) -> None:
    """PyTorch writes how much was free in place of an address."""
    found = snapshot()
    failed = {**event("oom", 0, 2 << 30, 8), "device_free": 1 << 20}
    del failed["addr"]
    found["device_traces"][0] += [failed, {**failed, "device_free": None}]
    connection = read(tmp_path, found)
    said = "an allocation of 2,147,483,648 bytes failed on device 0, where 1,048,576 were free; so did 1 more"
    assert connection.execute("SELECT warnings, n_kept = n_events FROM captures").fetchall() == [([said], True)]
    assert connection.execute("SELECT count(*) FROM quality WHERE source IS NOT NULL").fetchall() == [(0,)]


def test_without_times_the_order_stands_for_them(tmp_path: Path) -> None:
    found = snapshot()
    for one in found["device_traces"][0]:
        del one["time_us"]
    connection = read(tmp_path, found)
    assert connection.execute("SELECT max(sum_bytes) FROM memory_events").fetchall() == [(1700,)]
    assert connection.execute("SELECT clock, origin_unix_ns FROM captures").fetchall() == [
        ("order of the events: the snapshot has no times", None)
    ]


def test_only_this_reader_takes_it(tmp_path: Path) -> None:
    peek = Peek(tmp_path, pickle.dumps(snapshot(), 4), None)
    assert [reader for reader in READERS if reader.sniff(peek)] == [cuda_snapshot]
    assert not cuda_snapshot.sniff(Peek(tmp_path, pickle.dumps({"state_dict": {}}), None))


class Harmful:
    """An object whose pickle runs a command."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


HEAD = b"\x80\x04}\x8c\x08segments]s\x8c\x0atotal_size"
REFUSED = {
    "an import": HEAD + b"cos\nsystem\n(\x8c\x04truetR.",
    "an import from the stack": HEAD + b"\x8c\x02os\x8c\x06system\x93.",
    "an extension": HEAD + b"\x82\x01.",
    "a reference": HEAD + b"Pid\n.",
    "a huge memo": HEAD + b"r\xff\xff\xff\x7f.",
    "a huge text": HEAD + b"\x8d" + struct.pack("<Q", 1 << 60) + b"x.",
    "a huge frame": HEAD + b"\x95" + struct.pack("<Q", 1 << 60) + b".",
    "a number of many digits": HEAD + b"\x8b" + struct.pack("<i", -5) + b".",
    "an empty stack": HEAD + b"0000000.",
    "a key that is hashed 2**50 times": HEAD + b"Ns)" + b"2\x86" * 50 + b"Ns.",
    "a key of a million levels": HEAD + b"Ns)" + b"\x85" * 10**6 + b"Ns.",
    "no end": HEAD,
    "no dictionary": HEAD + b"].",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_plain_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"memory\.pickle (cannot be read as|is not) a memory snapshot"):
        read(tmp_path, REFUSED[name])


def test_nothing_that_a_pickle_calls_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "was run"
    with pytest.raises(InputError, match="wants to import"):
        read(tmp_path, {**snapshot(), "more": Harmful(mark)})
    assert not mark.exists()


ODD: list[dict[str, Any]] = [
    {"segments": 7},
    {"segments": [7, {}], "device_traces": [[7, {}]]},
    {"segments": [{"device": -1, "blocks": [{"state": "active_allocated", "address": "x", "size": 2**70}]}]},
    {"segments": [{"device": 10**12, "total_size": 2**70}]},
    {"segments": [], "device_traces": [[event("alloc", 2**80, 8, 0), event("alloc", 64, -8, 0)]]},
    {"segments": [], "device_traces": [[event("alloc", 64, 8, 10**18), event("free", 64, 8, 0), event("x", 64, 8, 1)]]},
    {"segments": [], "device_traces": [[{**event("alloc", 64, 8, 0), "frames": [7, {"filename": ".py", "line": []}]}]]},
]  # fmt: skip


@pytest.mark.parametrize("found", ODD)
def test_odd_contents_are_left_out(tmp_path: Path, found: dict[str, Any]) -> None:
    found = {"segments": found.pop("segments"), "total_size": 0, **found}
    found["device_traces"] = [*found.get("device_traces", []), [event("alloc", 640, 8, 0)]]
    connection = read(tmp_path, found)
    rows = connection.execute("SELECT n_events, n_kept, coalesce(n_dropped, 0) FROM captures").fetchall()
    assert rows[0][0] == rows[0][1] + rows[0][2]
    assert connection.execute("SELECT count(*) FROM allocations WHERE address = 640").fetchall() == [(1,)]


def twice(value: list[Any], times: int) -> list[Any]:
    """Lists that hold the one before twice: few bytes of a pickle, without end as a text."""
    for _ in range(times):
        value = [value, value]
    return value


def test_a_frame_has_texts_and_nothing_else(tmp_path: Path) -> None:
    frames = [{"filename": twice([], 40)}, {"filename": "/a.py", "line": 3, "name": twice([], 40)}, FRAMES[2]]
    connection = read(
        tmp_path, {"segments": [], "total_size": 0, "device_traces": [[event("alloc", 64, 8, 0, frames)]]}
    )
    assert connection.execute("SELECT file, line FROM allocations").fetchall() == [("/a.py", 3)]


SHARED: list[dict[str, Any]] = [
    {"segments": [], "device_traces": [[event("alloc", 64, 8, 0)] * 5000] * 5000},
    {"segments": [{"device": 0, "blocks": [{"state": "inactive"}] * 5000}] * 5000},
]


@pytest.mark.parametrize("found", SHARED)
def test_one_list_does_not_stand_for_more_events_than_bytes(tmp_path: Path, found: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="more events than bytes"):
        read(tmp_path, {"segments": found["segments"], "total_size": 0, **found})


def test_one_stack_of_many_events_is_read_once(tmp_path: Path) -> None:
    frames = FRAMES[:1] * 10**5 + FRAMES[2:]
    events = [event("alloc", 64 * number, 8, number, frames) for number in range(4000)]
    connection = read(tmp_path, {"segments": [], "total_size": 0, "device_traces": [events]})
    assert connection.execute("SELECT line, count(*) FROM allocations GROUP BY line").fetchall() == [(42, 4000)]


def test_devices_that_cannot_be_are_left_out_and_counted(tmp_path: Path) -> None:
    """A segment of an unreadable device was the first device's, and each device looked through all segments."""
    numbers = [0, *range(127, 8000), -1, "x", None]
    segments = [{"device": number, "total_size": 512, "blocks": []} for number in numbers]
    traces = [[event("alloc", 64, 8, 0)], *[[]] * 200, [event("alloc", 64, 8, 0)] * 5]
    connection = read(tmp_path, {"segments": segments, "total_size": 0, "device_traces": traces})
    assert connection.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(7883, 3, 7880)]
    assert connection.execute("SELECT device FROM devices ORDER BY device").fetchall() == [(0,), (127,)]
    held = connection.execute("SELECT device, max(value) FROM counters WHERE name = 'reserved_bytes' GROUP BY device")
    assert held.fetchall() == [(0, 512)]


def test_times_that_cannot_be_are_lost_and_move_no_others(tmp_path: Path) -> None:
    """A moment in 1970, where an event or a device has none of its own, made a recording of decades."""
    frames = [{"filename": "/a\ud800.py", "line": 3, "name": "f\ud800"}]
    odd = [{**event("oom", 0, 8, 0), "time_us": at} for at in (1 << 90, -5, None, float("nan"), True)]
    found = {"segments": [{"device": 1, "total_size": 512}], "total_size": 0}
    connection = read(tmp_path, {**found, "device_traces": [[*odd, event("alloc", 64, 8, 1, frames)]]})
    assert connection.execute("SELECT n_kept, n_dropped, warnings FROM captures").fetchall() == [(2, 5, None)]
    assert connection.execute("SELECT file, line FROM allocations").fetchall() == [("/a?.py", 3)]
    times = connection.execute("SELECT min(start_ns), max(start_ns), min(origin_unix_ns) FROM counters, captures")
    assert times.fetchall() == [(0, 0, 10**18 + 1000)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_changed_bytes_end_in_rows_or_a_sentence(tmp_path: Path, seed: int) -> None:
    chance, whole = random.Random(seed), bytearray(pickletools.optimize(pickle.dumps(snapshot(), 4)))
    for turn in range(60):
        changed = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(30, len(changed))] = chance.randrange(256)
        file = tmp_path / f"{turn}.pickle"
        file.write_bytes(changed[: chance.choice([len(changed), chance.randrange(40, len(changed))])])
        try:
            store.convert([file], tmp_path / f"{turn}.capture")
        except InputError as error:
            assert "\n" not in str(error)
