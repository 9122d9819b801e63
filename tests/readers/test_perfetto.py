"""Perfetto's packets: interned texts, defaults, clocks and pairs of starts and ends, and what damage costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected
from messages import field
from timelines import EVENTS, opened, written

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, perfetto

MAIN = 77


def packets(*parts: bytes) -> bytes:
    return b"".join(field(1, part + field(10, 1)) for part in parts)


def event(at: int, kind: int, *parts: bytes, track: int | None = MAIN) -> bytes:
    place = b"" if track is None else field(11, track)
    return field(8, at) + field(11, field(9, kind) + place + b"".join(parts))


TRACK = field(60, field(1, MAIN) + field(2, b"main") + field(4, field(1, 70) + field(2, 71)))
CLOCKS = field(6, field(1, field(1, 6) + field(2, 10**18)) + field(1, field(1, 1) + field(2, 3 * 10**18)))


def small() -> bytes:
    """A slice inside another, a mark and a sample."""
    return packets(
        CLOCKS,
        TRACK,
        event(1000, 1, field(23, b"outer"), field(4, field(10, b"bytes") + field(4, 4096))),
        event(1100, 1, field(23, b"inner")),
        event(1200, 2),
        event(1250, 3, field(23, b"mark")),
        event(1500, 2),
    )


def read(tmp_path: Path, content: bytes) -> duckdb.DuckDBPyConnection:
    (tmp_path / "unknown").write_bytes(content)
    return connected(store.convert([tmp_path / "unknown"], tmp_path / "capture"))


def slices(found: Any) -> list[Any]:
    return found.execute(
        "SELECT name, start_ns, dur_ns, pid, tid FROM ranges ORDER BY start_ns, dur_ns DESC"
    ).fetchall()


def problems(found: Any) -> dict[str, int]:
    query = "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p)"
    return dict(found.execute(query).fetchall())


def test_starts_and_ends_are_slices_of_their_thread(tmp_path: Path) -> None:
    content = packets(
        CLOCKS,
        TRACK,
        event(1000, 1, field(23, b"outer")),
        event(1100, 1, field(23, b"inner")),
        event(1200, 2),
        event(1200, 1, field(23, b"next")),
        event(1250, 2),
        event(1500, 2),
    )
    assert [reader.NAME for reader in READERS if reader.sniff(peek(_file(tmp_path, content)))] == ["perfetto"]
    found = read(tmp_path, content)
    assert slices(found) == [("outer", 0, 500, 70, 71), ("inner", 100, 100, 70, 71), ("next", 200, 50, 70, 71)]
    origin = found.execute("SELECT origin_unix_ns FROM captures").fetchall()
    assert origin == [(2 * 10**18 + 1000,)]


def _file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "peeked"
    path.write_bytes(content)
    return path


def test_interned_texts_and_defaults_start_anew_when_a_sequence_is_cleared(tmp_path: Path) -> None:
    def texts(name: bytes) -> bytes:
        interned = field(12, field(2, field(1, 5) + field(2, name)) + field(1, field(1, 9) + field(2, b"cat")))
        return interned + field(13, 1) + field(59, field(11, field(11, MAIN)))

    named = field(10, 5) + field(3, 9)
    content = packets(
        TRACK, texts(b"first"), event(10, 1, named, track=None), event(20, 2, track=None),
        texts(b"second"), event(30, 1, named, track=None), event(40, 2, track=None),
    )  # fmt: skip
    found = read(tmp_path, content)
    assert [row[0] for row in slices(found)] == ["first", "second"]
    assert found.execute("SELECT DISTINCT domain FROM ranges").fetchall() == [("cat",)]


def test_times_may_be_differences_in_microseconds(tmp_path: Path) -> None:
    own = field(1, 64) + field(2, 500) + field(3, 1) + field(4, 1000)
    clocks = field(6, field(1, field(1, 6) + field(2, 10**9)) + field(1, own)) + field(59, field(58, 64))
    content = packets(
        TRACK, clocks, event(5, 1, field(23, b"a")), event(10, 2), event(2, 1, field(23, b"b")), event(3, 2)
    )
    assert [row[:3] for row in slices(read(tmp_path, content))] == [("a", 0, 10_000), ("b", 12_000, 3_000)]


@pytest.mark.parametrize("shared", [6, 3])
def test_snapshots_are_joined_by_a_clock_that_all_share(tmp_path: Path, shared: int) -> None:
    """BOOTTIME (6), or where a system has none, as macOS and Windows, MONOTONIC (3)."""

    def snapshot(at: int) -> bytes:
        own = field(1, 64) + field(2, at // 1000) + field(3, 1) + field(4, 1000)
        clocks = field(1, field(1, shared) + field(2, 10**9 + at)) + field(1, field(1, 1) + field(2, 5 * 10**9 + at))
        return field(6, clocks + field(1, own)) + field(59, field(58, 64))

    content = packets(
        TRACK, snapshot(0), event(5, 1, field(23, b"a")), event(10, 2),
        snapshot(50_000_000), event(2, 1, field(23, b"b")), event(3, 2),
    )  # fmt: skip
    found = read(tmp_path, content)
    assert [row[:3] for row in slices(found)] == [("a", 0, 10_000), ("b", 49_997_000, 3_000)]
    assert found.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(5 * 10**9 + 5000,)]


def test_arguments_instants_and_samples_are_kept(tmp_path: Path) -> None:
    told = field(4, field(10, b"bytes") + field(4, 4096)) + field(4, field(10, b"who") + field(6, b"me"))
    counter = field(60, field(1, 78) + field(2, b"memory") + field(8, b""))
    content = packets(
        TRACK,
        counter,
        event(10, 1, field(23, b"a"), told),
        event(20, 2),
        event(15, 3, field(23, b"mark")),
        event(12, 4, field(30, 123), track=78),
    )
    found = read(tmp_path, content)
    rows = found.execute("SELECT name, phase, args FROM events ORDER BY start_ns").fetchall()
    assert rows == [("a", "X", '{"bytes":4096,"who":"me"}'), ("mark", "i", None)]
    assert found.execute("SELECT name, value FROM counters").fetchall() == [("memory", 123.0)]


def test_samples_have_the_unit_of_their_counter_and_incremental_ones_are_summed(tmp_path: Path) -> None:
    """In MiB; and differences that begin anew where their sequence does."""
    content = packets(
        field(60, field(1, 78) + field(2, b"memory") + field(8, field(3, 3) + field(4, 1 << 20))) + field(13, 1),
        field(60, field(1, 79) + field(2, b"requests") + field(8, field(5, 1))),
        event(10, 4, field(30, 12), track=78),
        event(10, 4, field(30, 5), track=79),
        event(20, 4, field(30, 7), track=79),
        event(30, 4, field(30, 2), track=79) + field(13, 1),
    )
    found = read(tmp_path, content).execute("SELECT name, value FROM counters ORDER BY name, start_ns").fetchall()
    assert found == [("memory", 12 * 2**20), ("requests", 5), ("requests", 12), ("requests", 2)]


@pytest.mark.long
def test_an_export_of_ours_is_the_same_kernels_and_operators(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    connection = opened(tmp_path / "before", EVENTS)
    query = """SELECT 'kernel', name, dur_ns, device, stream, 0 FROM kernels
        UNION ALL SELECT 'op', name, dur_ns, tid, 0, 0 FROM ops
        UNION ALL SELECT 'copy', name, dur_ns, device, stream, size_bytes FROM memcpys ORDER BY ALL"""
    before = connection.execute(query).fetchall()
    found = read(tmp_path, written(connection, "perfetto"))
    assert len(before) == 6 and found.execute(query).fetchall() == before
    assert found.execute("SELECT count(*) FROM api_calls").fetchall() == [(2,)]


def test_what_stands_alone_is_counted(tmp_path: Path) -> None:
    content = packets(
        TRACK, event(10, 2), event(20, 1, field(23, b"open")), event(30, 1, field(23, b"in")), event(40, 2)
    )
    found = read(tmp_path, content)
    assert [row[0] for row in slices(found)] == ["in"]
    assert problems(found) == {"start of a slice without its end, or end without its start": 2}


def test_events_whose_names_were_lost_are_counted_with_their_ends(tmp_path: Path) -> None:
    """A ring buffer overwrote the texts of a sequence; one text is missing of another slice, which has one inside."""
    named = field(10, 5)
    needs = field(13, 2)
    content = packets(
        TRACK,
        event(10, 1, named) + needs,
        event(20, 2) + needs,
        field(13, 1) + field(12, field(2, field(1, 5) + field(2, b"whole"))),
        event(30, 1, named) + needs,
        event(40, 1, field(10, 6)) + needs,
        event(45, 1, field(23, b"inner")) + needs,
        event(50, 2) + needs,
        event(60, 2) + needs,
        event(70, 2) + needs,
    )
    found = read(tmp_path, content)
    assert [row[:3] for row in slices(found)] == [("whole", 0, 40), ("inner", 15, 5)]
    assert found.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(8, 4, 4)]
    assert problems(found) == {
        "event without a readable time": 2,
        "event whose name or category is not in the file": 1,
    }


@pytest.mark.parametrize("cut", [3, 20, 41])
def test_a_cut_file_gives_what_came_before(tmp_path: Path, cut: int) -> None:
    many = [piece for n in range(50) for piece in (event(10 * n, 1, field(23, b"s")), event(10 * n + 5, 2))]
    content = packets(CLOCKS, TRACK, *many)[:-cut]
    found = read(tmp_path, content)
    assert 45 <= len(slices(found)) <= 50
    assert "packet or event that is cut or damaged" in problems(found)
    assert "the file is cut off or damaged: a packet is not whole" in problems(found)


def test_a_trace_without_track_events_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(packets(CLOCKS, TRACK))
    with pytest.raises(InputError, match="traceconv json"):
        store.convert([path], tmp_path / "out")


def test_tracks_in_a_circle_end(tmp_path: Path) -> None:
    circle = (
        field(60, field(1, 5) + field(2, b"a") + field(5, 6)),
        field(60, field(1, 6) + field(2, b"b") + field(5, 5)),
    )
    found = read(tmp_path, packets(*circle, event(1, 1, field(23, b"x"), track=5), event(2, 2, track=5)))
    assert [row[0] for row in slices(found)] == ["x"]


@pytest.mark.parametrize("content", [b"\x0a", b"\x0a\x00", b"\x0a\x02\x08\x01", b"\x0a\x7f" + b"\xff" * 40, b"\n{}"])
def test_other_bytes_are_not(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(content)
    assert not perfetto.sniff(peek(path))
