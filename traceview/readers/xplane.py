"""XPlane: what the profilers of TensorFlow 2, Keras, JAX and PyTorch/XLA write (`*.xplane.pb`), on CPU, GPU and TPU.

Capture with `tf.profiler.experimental.start(dir)` or `jax.profiler.start_trace(dir)`; the file lies under
`dir/plugins/profile/<time>/`. Format: xplane.proto of https://github.com/openxla/xla (tsl/profiler/protobuf), read here
without a protobuf library. Times are picoseconds and are rounded once, at the end. A line's time stamp is
Unix time in some writers and relative to the profile's start in others: its size tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from traceview import sql
from traceview.decode import hlo, xspace
from traceview.decode.files import Peek, Stream, ahead, mapped
from traceview.decode.protobuf import PAD, Wire
from traceview.decode.text_bounds import TOO_LONG
from traceview.decode.xspace import Plane
from traceview.errors import InputError
from traceview.ingest.sink import LATEST_NS, WEEK_NS, Sink

NAME = "xplane"
TITLE = "XPlane (.xplane.pb) of TensorFlow 2, Keras, JAX and PyTorch/XLA"
HOW = "tf.profiler.experimental.start(dir), jax.profiler.start_trace(dir) or torch_xla.debug.profiler"
_sql = sql.texts(f"ingest/{NAME}")

MAX_BYTES = 1 << 31
"""No protobuf message may be larger."""
TABLES = ("kernels", "memcpys", "api_calls", "ops", "ranges", "counters", "allocations", "events")
"""Tables an event can go to, each by `queries/ingest/xplane/<table>.sql`."""
NUMBERS = ["correlation_id", "step_num", "bytes_allocated", "bytes_reserved", "device_ordinal", "program_id", "addr"]
NUMBERS += ["allocation_bytes", "requested_bytes"]
IDS = 4
"""Ids that an event takes: one of the allocator is two counters, an allocation and a difference."""
TEXTS = ["annotation", "tf_op", "name", "hlo_op", "hlo_module", "context_id", "step_name", "allocator_name"]
TEXTS += ["kernel_details", "memcpy_details", "memset_details"]
_PLANE = re.compile(r"/(host|device):[A-Za-z]|Task Environment$")
_DEVICE = re.compile(r"/device:([A-Za-z]+)[^:]*:(\d+)")


def sniff(peek: Peek) -> bool:
    """A first plane with a name such as /host:CPU, where XSpace keeps it."""
    return peek.head[:1] == b"\x0a" and bool(_PLANE.match(xspace.first_plane_name(Wire(peek.head)) or ""))


class Chip(NamedTuple):
    """One TPU of a recording of several."""

    number: int
    has_host: bool
    """The host is told of with the first chip."""


def parts(path: Path) -> list[Chip]:
    """The chips of a recording of several TPUs, each of which runs the program."""
    if not (xspace.first_plane_name(Wire(next(iter(Stream(path)), b""))) or "").startswith("/device:TPU"):
        return []
    names = [plane.name for plane in xspace.planes(Wire(mapped(_bounded(Stream(path)), None, PAD)))]
    found = sorted({int(device.group(2)) for name in names if (device := _DEVICE.match(name))})
    return [Chip(number, number == found[0]) for number in found] if len(found) > 1 else []


def read(stream: Stream, sink: Sink, part: Chip | None = None) -> None:
    """Fill the tables from one file, or with one of its TPUs. A file that is cut off gives what came before the cut."""
    wire = Wire(mapped(_bounded(stream), sink.folder, PAD))
    planes = [plane for plane in xspace.planes(wire) if part is None or _is_of(plane, part)]
    if stream.damage:
        sink.problem(stream.damage)
    if not all(plane.is_whole for plane in planes):
        sink.problem("the file is cut off: a plane is not whole")
    if not any(plane.lines or plane.facts or plane.shared for plane in planes):
        raise InputError(f"{stream.path.name} ends before anything that could be read; capture it again.")
    programs = _ran(wire, planes)
    know_hlo(sink, hlo.instructions(wire, ((program.number, program.start, program.end) for program in programs)))
    _assign(sink, xspace.buffers(wire, programs))
    counted = {plane.name: 0 for plane in planes}
    n_rounded = 0
    starts = (plane.facts.get("profile_start_time") for plane in planes)
    start = next((at for at in starts if isinstance(at, int) and 0 <= at <= LATEST_NS), None)
    for plane in planes:
        place = _place(plane)
        for batch in ahead(xspace.batches(wire, plane, NUMBERS, TEXTS, start or 0)):
            counted[plane.name] += batch.table.num_rows
            n_rounded += batch.n_rounded if plane.name.startswith("/device:") else 0
            _store(sink, place, batch)
    finish(sink)
    sink.zero_unix_ns = _zero(sink, start)
    sink.write_rows("devices", [row for plane in planes if (row := _device(plane))])
    facts: dict[str, Any] = {"planes": counted, "n_not_whole_ns": n_rounded}
    facts["task_environment"] = next((plane.facts for plane in planes if plane.name == "Task Environment"), None)
    hosts = xspace.texts(wire, xspace.SPACE_HOST)
    sink.warnings += [f"error: {text}" for text in xspace.texts(wire, xspace.SPACE_ERROR)]
    sink.warnings += xspace.texts(wire, xspace.SPACE_WARNING)
    sink.write_rows("ranks", [{"host": hosts[0] if hosts else None}])
    if wire.too_long:
        sink.problem(TOO_LONG, len(wire.too_long))
    sink.fact(tool="XLA profiler", framework=framework(sink), metadata=facts)


def _is_of(plane: Plane, chip: Chip) -> bool:
    """Whether a plane is a chip's; what was compiled is every chip's."""
    device = _DEVICE.match(plane.name)
    if device is None:
        return chip.has_host or plane.name == "/host:metadata"
    return int(device.group(2)) == chip.number


def _bounded(stream: Stream) -> Iterator[bytes]:
    """The file as blocks. All of it is needed at once: a plane keeps its dictionaries behind its events."""
    size = 0
    for block in stream:
        size += len(block)
        if size > MAX_BYTES:
            raise InputError(f"{stream.path.name} is larger than a protobuf message can be: it is not an XPlane file.")
        yield block


def _store(sink: Sink, place: dict[str, Any], batch: xspace.Batch) -> None:
    """Spread the events of a batch over the tables. `place` says which plane they are of."""
    connection = sink.connection
    count = batch.table.num_rows
    sink.count("n_events", count)
    if batch.n_damaged:
        sink.problem("lines or events that are cut or damaged", batch.n_damaged, [place["plane"]])
    if not count:
        return
    table = batch.table.append_column("id", pa.array(sink.next_id + IDS * np.arange(count)))
    for name, value in {**place, "is_full": count >= xspace.BATCH_EVENTS}.items():
        table = table.append_column(name, _repeated(value, count))
    connection.register("batch", table)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE placed AS {_sql('placed')}")
    connection.unregister("batch")
    found = connection.execute(_sql("destinations"), {"latest": LATEST_NS, "longest": WEEK_NS}).fetchall()
    # What the allocator notes of an event is a row of both.
    found += [("allocations", False) for table, _ in found if table == "counters"]
    for table, is_settled in found:
        if count < xspace.BATCH_EVENTS or not is_settled or sink.folder is None:
            connection.execute(f"INSERT INTO stage.{table} BY NAME {_sql(table)}")
        elif table == "ranges":
            # All steps have to be at hand: `steps` compares them.
            connection.execute(f"INSERT INTO stage.ranges BY NAME FROM ({_sql(table)}) WHERE kind = 'step'")
            sink.spill(table, f"FROM ({_sql(table)}) WHERE kind <> 'step'")
        else:
            sink.spill(table, _sql(table))
    sink.count("n_kept", count)
    sink.next_id += IDS * count


def _repeated(value: Any, count: int) -> pa.Array:
    kinds = {bool: pa.bool_(), str: pa.string()}
    values = pa.array([value], kinds.get(type(value), pa.int64()))
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), values).dictionary_decode()


def _ran(wire: Wire, planes: list[Plane]) -> list[xspace.Program]:
    """The programs that ran, each once: a profile holds every program that was ever compiled."""
    found = [program for plane in planes if plane.name == "/host:metadata" for program in xspace.programs(wire, plane)]
    named = {text for plane in planes for text in plane.stats.values()}
    ran = [program for program in found if program.module in named] or found
    # A damaged or a joined file may hold one many times.
    return list({one.start if one.number is None else (one.module, one.number): one for one in ran}.values())


def _assign(sink: Sink, assigned: xspace.Batch) -> None:
    """Store the memory that the compiler assigned to programs, with the names of their arguments."""
    sink.connection.register("assigned", assigned.table)
    sink.write("program_buffers", sink.connection.sql(_sql("program_buffers")).to_arrow_table())
    sink.connection.unregister("assigned")
    if assigned.n_damaged:
        sink.problem("memory of compiled programs that makes no sense", assigned.n_damaged)


def know_hlo(sink: Sink, instructions: pa.Table) -> None:
    """Make the table `compiled`, which `placed` joins."""
    sink.connection.register("hlo", instructions)
    sink.connection.execute(f"CREATE OR REPLACE TEMP TABLE compiled AS {_sql('compiled')}")
    sink.connection.unregister("hlo")


def _place(plane: Plane) -> dict[str, Any]:
    """Return the facts that a plane's events share. XPlane has no process ids: the plane's own id stands in."""
    device = _DEVICE.match(plane.name)
    return {
        "plane": plane.name,
        "pid": plane.id,
        "device": int(device.group(2)) if device else None,
        "kind": device.group(1).lower() if device else "host",
        "is_named": bool(plane.names),
    }


def finish(sink: Sink) -> None:
    """Finish what needs all planes: steps marked more than once, allocations, operators of kernels alone, layers."""
    connection = sink.connection
    connection.execute(f"CREATE OR REPLACE TABLE stage.ranges AS {_sql('steps')}")
    with sink.whole():
        connection.execute(f"CREATE OR REPLACE TEMP TABLE launched AS {_sql('launched')}")
    operators = f"INSERT INTO stage.ops BY NAME {_sql('launched_ops')}"
    connection.execute(operators, {"first": sink.next_id})
    sink.next_id += int(connection.execute("SELECT count(*) FROM launched").fetchall()[0][0])
    sink.replace("ops", _sql("scoped_ops"))
    if connection.execute("SELECT EXISTS (FROM stage.allocations)").fetchall()[0][0]:
        sink.replace("counters", _sql("totals"))
        with sink.whole():
            sink.replace("allocations", sql.text("ingest/kineto/allocations_paired"))


def _zero(sink: Sink, start: int | None) -> int | None:
    """Return time zero: the profile's start where that is recorded, else 1970 where stamps are that large."""
    if start is not None:
        return start
    with sink.whole():
        latest = sink.connection.execute("SELECT max(start_ns) FROM stage.ranges").fetchall()[0][0] or 0
    return 0 if latest > xspace.UNIX_NS else None


def _device(plane: Plane) -> dict[str, Any] | None:
    device = _DEVICE.match(plane.name)
    if not device:
        return None
    facts = plane.facts
    major, minor = facts.get("compute_cap_major"), facts.get("compute_cap_minor")
    clock = facts.get("clock_rate")
    name = facts.get("device_type_string") or facts.get("device_name")
    # XLA takes it that memory moves two bits per clock and line: ROCm's clocks of HBM3 and GDDR6 stand for more.
    bandwidth = None if facts.get("device_vendor") == "AMD" else facts.get("memory_bandwidth")
    return {
        "device": int(device.group(2)),
        "name": name if isinstance(name, str) else None,
        "kind": device.group(1).lower(),
        "architecture": f"{major}.{minor}" if major is not None else None,
        "n_cores": _integer(facts.get("core_count")),
        "memory_bytes": _integer(facts.get("memory_size")),
        "clock_hz": clock * 1000 if isinstance(clock, int) else None,
        "memory_bytes_per_s": float(bandwidth) if isinstance(bandwidth, int) else None,
        "peaks_from": "the profiler" if bandwidth else None,
    }


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def framework(sink: Sink) -> str | None:
    """XLA instructions come from JAX or PyTorch/XLA; names with a type after a colon from TensorFlow."""
    with sink.whole():
        found = sink.connection.execute(_sql("framework")).fetchall()[0][0]
    return str(found) if found else None
