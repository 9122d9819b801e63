"""Lines of an XPlane are read in windows, so memory does not grow with them; spilled rows come out the same."""

from __future__ import annotations

import gzip
import runpy
import tracemalloc
from pathlib import Path

import duckdb
import pytest
from asked import connected
from messages import field

from traceview import store
from traceview.decode import files, protobuf, xspace
from traceview.decode.protobuf import Wire
from traceview.ingest.sink import AT_HAND, BEYOND, LONG, Sink, made
from traceview.readers import xplane

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "xplane"
ALEXNET = SAMPLES / "jax-0.10.2-alexnet-cpu.xplane.pb.gz"
TABLES = ("ops", "ranges", "kernels", "memcpys", "api_calls", "counters", "events", "devices", "ranks", "captures")


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[int, Path]:
    """The sample with the events of its lines again and again: ten and forty times."""
    scaled = runpy.run_path(str(root / "benchmarks/scaled.py"))["scaled"]
    return {times: scaled(ALEXNET, times, tmp_path_factory.mktemp("longer")).path for times in (10, 40)}


def batches(path: Path, folder: Path) -> tuple[int, int]:
    """How many events a file has, and the most memory that arrays took while they were read."""
    wire = Wire(files.mapped(files.Stream(path), folder, protobuf.PAD))
    planes = xspace.planes(wire)
    tracemalloc.start()
    count = sum(
        batch.table.num_rows for plane in planes for batch in xspace.batches(wire, plane, xplane.NUMBERS, xplane.TEXTS)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return count, peak


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(
    longer: dict[int, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protobuf, "WINDOW", 1 << 15)
    monkeypatch.setattr(xspace, "BATCH_EVENTS", 2000)
    # The first time imports what it needs.
    _, (few, least), (many, most) = (batches(longer[times], tmp_path) for times in (10, 10, 40))
    assert (few, many) == (22_690, 90_760)
    # Where each event of the longest line begins and ends would be more than this.
    assert most < least + 500_000


def test_windows_of_a_message_are_the_whole_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf, "WINDOW", 1 << 13)
    wire = Wire(gzip.decompress(ALEXNET.read_bytes()))
    most = 0
    for plane in xspace.planes(wire):
        for start, end in plane.lines:
            whole = wire.message(start, end)
            parts = list(wire.windows(start, end))
            most = max(most, len(parts))
            for name in ("message", "number", "value", "end"):
                found = [value for part in parts for value in getattr(part, name).tolist()]
                assert found == getattr(whole, name).tolist()
    assert most > 1, "no message was cut"


@pytest.mark.parametrize(
    ("offset", "duration", "start_ns", "dur_ns"),
    [
        (1_499, 1_001, 1, 2),
        (1_500, 1_499, 2, 1),
        ((1 << 63) - 1, (1 << 63) - 1, 9_223_372_036_854_776, 9_223_372_036_854_776),
    ],
)
def test_picoseconds_are_rounded_once_and_never_wrap(offset: int, duration: int, start_ns: int, dur_ns: int) -> None:
    event = field(xspace.LINE_EVENT, field(xspace.EVENT_OFFSET, offset) + field(xspace.EVENT_DURATION, duration))
    wire = Wire(field(xspace.SPACE_PLANE, field(xspace.PLANE_NAME, b"/host:CPU") + field(xspace.PLANE_LINE, event)))
    (batch,) = xspace.batches(wire, xspace.planes(wire)[0], (), ())
    assert [batch.table[name].to_pylist() for name in ("start_ns", "dur_ns")] == [[start_ns], [dur_ns]]


def test_a_mapped_file_is_read_as_bytes_are(tmp_path: Path) -> None:
    data = gzip.decompress(ALEXNET.read_bytes())
    wire = Wire(files.mapped([data[:100], data[100:]], tmp_path / "new", protobuf.PAD))
    assert (wire.size, wire.text(0, 300)) == (len(data), Wire(data).text(0, 300))
    wire.release()
    assert wire.data.tobytes() == data + bytes(protobuf.PAD)
    assert list((tmp_path / "new").iterdir()) == [], "the file has no name"


@pytest.mark.slow
def test_rows_are_spilled(longer: dict[int, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xspace, "BATCH_EVENTS", 2000)
    with duckdb.connect() as connection:
        connection.execute(made())
        sink = Sink(connection, tmp_path)
        xplane.read(files.Stream(longer[10]), sink)
        sink.join_spilled()
        for table, n in (("ops", 6380), ("ranges", 16_310)):
            (all_,) = connection.execute(f"SELECT count(*) FROM stage.{table}").fetchall()[0]
            (at_hand,) = connection.execute(f"SELECT count(*) FROM stage.{table}{AT_HAND}").fetchall()[0]
            assert all_ == n
            assert at_hand < 2000


def same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a file is read alike with many small batches, whose rows wait, and with a large one."""
    found = []
    for n_events in (1 << 20, 50):
        monkeypatch.setattr(xspace, "BATCH_EVENTS", n_events)
        connection = connected(store.convert([path], tmp_path / str(n_events)))
        found.append([connection.execute(f"FROM raw.{table} ORDER BY ALL").fetchall() for table in TABLES])
    return bool(found[0] == found[1])


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_what_waited_is_the_same(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert same(path, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.shared
def test_kernels_that_waited_are_the_same(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches, kernels and what they tell of operators; steps of a device and of the program."""
    assert same(shared / "traces/xplane/sm61-tf2-train.xplane.pb.gz", tmp_path, monkeypatch)


@pytest.mark.long
def test_times_that_cannot_be_true_are_said_though_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One duration of eight days among events that wait, and a line that begins later than anything can."""
    times = [(1000 * at, 5000) for at in range(100)]
    times[30] = (30_000, 8 * 24 * 3600 * 10**12)
    events = [
        field(xspace.EVENT_META, 1) + field(xspace.EVENT_OFFSET, at) + field(xspace.EVENT_DURATION, duration)
        for at, duration in times
    ]
    lines = [
        b"".join(field(xspace.LINE_EVENT, event) for event in some) + field(xspace.LINE_NS, stamp)
        for some, stamp in ((events, 10**18), (events[:50], 5 * 10**18))
    ]
    plane = field(xspace.PLANE_NAME, "/host:CPU") + b"".join(field(xspace.PLANE_LINE, line) for line in lines)
    named = field(1, 1) + field(2, field(1, 1) + field(xspace.META_NAME, "work"))
    path = tmp_path / "odd.xplane.pb"
    path.write_bytes(field(xspace.SPACE_PLANE, plane + field(xspace.PLANE_EVENTS, named)))
    assert same(path, tmp_path, monkeypatch)
    connection = connected(tmp_path / "50")
    problems = "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p) ORDER BY 1"
    assert connection.execute(problems).fetchall() == [(LONG, 1), (BEYOND, 50)]
    assert connection.execute("SELECT count(*), n_dropped FROM ranges, captures GROUP BY 2").fetchall() == [(100, 50)]


@pytest.mark.long
def test_steps_of_two_kinds_are_told_apart_though_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes to rows from steps cannot be made to rows that wait."""
    steps = [(f, 100_000 * n + 1000 * f, 90_000 // f, n) for n in range(4) for f in (1, 2)]
    others = [(3, 4000 * at, 2000, None) for at in range(100)]
    events = [
        field(xspace.EVENT_META, name)
        + field(xspace.EVENT_OFFSET, at * 1000)
        + field(xspace.EVENT_DURATION, duration * 1000)
        + (b"" if n is None else field(xspace.EVENT_STAT, field(xspace.STAT_META, 7) + field(xspace.STAT_INT, n)))
        for name, at, duration, n in steps + others
    ]
    line = b"".join(field(xspace.LINE_EVENT, event) for event in events)
    plane = field(xspace.PLANE_NAME, "/host:CPU") + field(xspace.PLANE_LINE, line)
    for number, name in enumerate(("train", "load", "work"), 1):
        named = field(1, number) + field(2, field(1, number) + field(xspace.META_NAME, name))
        plane += field(xspace.PLANE_EVENTS, named)
    plane += field(xspace.PLANE_STATS, field(1, 7) + field(2, field(1, 7) + field(xspace.META_NAME, "step_num")))
    path = tmp_path / "steps.xplane.pb"
    path.write_bytes(field(xspace.SPACE_PLANE, plane))
    assert same(path, tmp_path, monkeypatch)
    kinds = "SELECT name, kind FROM ranges WHERE name LIKE '%1' ORDER BY ALL"
    assert connected(tmp_path / "50").execute(kinds).fetchall() == [("load 1", "user"), ("train 1", "step")]


def buffer(number: int, size: int, **facts: int) -> bytes:
    """A BufferAllocationProto inside its BufferAssignmentProto."""
    own = {"is_argument": 5, "parameter": 6, "is_output": 7, "memory_space": 8, "is_constant": 12}
    more = b"".join(field(own[name], value) for name, value in facts.items())
    return field(3, field(1, number) + field(2, size) + more + field(9, field(1, 4) + field(3, size)))


def assigned(*places: bytes) -> xspace.Batch:
    """The buffers of programs, of each an assignment."""
    data, programs = b"", []
    for number, place in enumerate(places):
        programs.append(xspace.Program("f", number or None, 0, 0, ((len(data), len(data) + len(place)),)))
        data += place
    return xspace.buffers(Wire(data), programs)


def test_buffers_of_programs() -> None:
    first = field(1, b"logical") + buffer(3, 64, is_argument=1, parameter=2) + buffer(4, 8, is_output=1, memory_space=5)
    batch = assigned(first, b"", buffer(0, 16, is_constant=1))
    assert batch.n_damaged == 0
    columns = (
        "program",
        "buffer",
        "size_bytes",
        "is_argument",
        "parameter",
        "is_output",
        "memory_space",
        "is_constant",
    )
    assert [tuple(row[name] for name in columns) for row in batch.table.to_pylist()] == [
        (None, 3, 64, 1, 2, 0, 0, 0),
        (None, 4, 8, 0, 0, 1, 5, 0),
        (2, 0, 16, 0, 0, 0, 0, 1),
    ]
    assert assigned().table.num_rows == assigned(b"").table.num_rows == 0


def test_buffers_that_make_no_sense_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = buffer(1, 8) + buffer(2, -8) + buffer(3, 1 << 50) + buffer(4, (1 << 50) + 1)
    batch = assigned(whole + buffer(5, 8)[:-1])
    assert batch.table.column("buffer").to_pylist() == [1, 3]
    # Two sizes, and the cut one, which ends its assignment.
    assert batch.n_damaged == 3
    monkeypatch.setattr(xspace, "MOST_BUFFERS", 2)
    batch = assigned(whole, buffer(6, 8))
    assert batch.table.column("buffer").to_pylist() == [1]
    assert batch.n_damaged == 4, "the second is negative, and three are too many"
