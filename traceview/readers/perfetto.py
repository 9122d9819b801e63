"""Perfetto's own format, protobuf packets: track events of the SDK, of rocprofv3 and of `traceview export`.

Written with `rocprofv3 --output-format pftrace`, the Perfetto SDK or `traceview export --to perfetto`; capture with
https://perfetto.dev/docs/instrumentation/track-events. Format: https://perfetto.dev/docs/reference/trace-packet-proto.
Scheduling, ftrace and heap data are not track events and are not read: a file of these alone says what to do.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from traceview import sql
from traceview.decode.files import Peek, Stream, mapped
from traceview.decode.protobuf import PAD, Wire
from traceview.decode.text_bounds import TOO_LONG
from traceview.decode.track_events import TrackEvents, Tracks
from traceview.errors import InputError
from traceview.ingest.sink import Sink

NAME = "perfetto"
TITLE = "Perfetto protobuf (track events)"
HOW = "rocprofv3 --output-format pftrace, the Perfetto SDK, or traceview export --to perfetto"

PACKET = 1
TELLTALE = {6: "clock snapshot", 10: "sequence id", 33: "trace config", 36: "synchronization marker", 60: "track"}
"""Fields of a packet that every trace has some of, and XPlane's planes have not."""
FIRST = 8
"""Packets that are looked at."""
TABLES = ("kernels", "memcpys", "ops", "api_calls", "ranges", "counters", "events")
"""Tables an event can go to, each by `queries/ingest/perfetto/<table>.sql`."""
DEEPEST = 64
"""Tracks above a track."""
MAX_BYTES = 1 << 33
_NUMBER = re.compile(r"(?:process|thread) (\d{1,18})\b")
_sql = sql.texts(f"ingest/{NAME}")


def sniff(peek: Peek) -> bool:
    """Nothing but packets at the top, and among the first ones fields that only Perfetto has."""
    if peek.head[:1] != b"\x0a":
        return False
    wire = Wire(peek.head[: 1 << 16])
    top = wire.fields(np.array([0]), np.array([wire.size]), clip=True)
    if not len(top.number) or (top.number != PACKET).any():
        return False
    _, starts, ends = top.spans(PACKET)
    whole = slice(0, min(FIRST, max(1, len(starts) - top.n_damaged)))
    packets = wire.fields(starts[whole], ends[whole], clip=True)
    return len(set(packets.number.tolist()) & set(TELLTALE)) >= 2


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file. Raises `InputError` where it holds no track event."""
    wire = Wire(mapped(stream, sink.folder, PAD))
    found = TrackEvents(wire)
    connection = sink.connection
    for table in ("half", "argument"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    n_events = n_damaged = 0
    for batch in found.batches():
        for table, name, data in (("half", "batch", batch.events), ("argument", "arguments", batch.arguments)):
            connection.register(name, data)
            make = f"INSERT INTO {table}" if n_events else f"CREATE OR REPLACE TEMP TABLE {table} AS"
            connection.execute(f"{make} {_sql(table)}")
            connection.unregister(name)
        n_events += len(batch.events)
        n_damaged += batch.n_damaged
    if stream.damage:
        sink.problem(stream.damage)
    if found.is_cut:
        sink.problem("the file is cut off or damaged: a packet is not whole")
    if n_damaged:
        sink.problem("packet or event that is cut or damaged", n_damaged)
    if not n_events:
        raise InputError(
            f"{stream.path.name} is a Perfetto trace without track events (scheduling, heap or counters only). Run "
            f"`traceconv json {stream.path.name} trace.json` (https://get.perfetto.dev/traceconv) and read trace.json."
        )
    connection.register("track", _tracks(found.tracks))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {_sql('event')}", {"first": sink.next_id})
    connection.unregister("track")
    _count(sink, n_events)
    for table in TABLES:
        connection.execute(f"INSERT INTO stage.{table} BY NAME {_sql(table)}")
    sink.next_id += 2 * n_events
    for table in ("half", "argument", "event"):
        connection.execute(f"DROP TABLE {table}")
    if wire.too_long:
        sink.problem(TOO_LONG, len(wire.too_long))
    sink.zero_unix_ns = found.realtime_ns
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="Perfetto", metadata={"tracks": len(found.tracks.name)})


def _count(sink: Sink, n_events: int) -> None:
    n_untimed, n_lost, n_lost_read, n_alone, names = sink.connection.execute(_sql("count")).fetchall()[0]
    sink.count("n_events", n_events)
    sink.count("n_kept", n_events - n_untimed - n_lost_read)
    sink.count("n_dropped", n_untimed + n_lost_read)
    if n_untimed:
        sink.problem("event without a readable time", n_untimed)
    if n_lost:
        sink.problem("event whose name or category is not in the file", n_lost)
    if n_alone:
        sink.problem("start of a slice without its end, or end without its start", n_alone, names or ())


def _tracks(tracks: Tracks) -> pa.Table:
    """Every track with its process and thread; those that have no numbers of their own get their places."""
    rows: list[tuple[int | str | None, ...]] = []
    uuids = tracks.parent.keys() | tracks.name.keys() | tracks.process.keys() | tracks.thread.keys()
    for place, uuid in enumerate(sorted(uuids), 1):
        name = tracks.name.get(uuid)
        above = _above(tracks, uuid)
        process = next((tracks.name[each] for each in above if each in tracks.name), None)
        pid = next((tracks.process[each] for each in [uuid, *above] if each in tracks.process), None)
        threads = (tracks.thread[each] for each in [uuid, *above] if each in tracks.thread)
        of_process, tid = next(threads, (None, None))
        pid = next((each for each in (pid, of_process, _numbered(process)) if each is not None), 0)
        number = next((each for each in (tid, _numbered(name)) if each is not None), place)
        rows.append((uuid, pid, number, name, process, name, *tracks.counter.get(uuid, (1, False))))
    names = ("uuid", "pid", "tid", "name", "process", "thread", "unit", "is_incremental")
    kinds = (*[pa.int64()] * 3, *[pa.string()] * 3, pa.int64(), pa.bool_())
    columns: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return pa.table({name: pa.array(column, kind) for name, column, kind in zip(names, columns, kinds, strict=True)})


def _above(tracks: Tracks, uuid: int) -> list[int]:
    """The tracks around a track, the nearest first; a circle of them ends."""
    above: list[int] = []
    while uuid in tracks.parent and len(above) < DEEPEST:
        uuid = tracks.parent[uuid]
        above.append(uuid)
    return above


def _numbered(label: str | None) -> int | None:
    """The number in a label of ours."""
    match = _NUMBER.search(label or "")
    return int(match[1]) if match else None
