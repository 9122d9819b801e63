"""Kineto JSON: what `torch.profiler` writes, from PyTorch 1.8 to today, on CUDA, ROCm and CPU.

Capture with `torch.profiler.profile(...).export_chrome_trace(path)`. Format: libkineto's `output_json.cpp`
(https://github.com/pytorch/kineto). Times are microseconds: absolute integers in old files, three decimals relative to
`baseTimeNanoseconds` in new ones, absolute with decimals in between; all are converted through decimal digits, because
sixteen digits and three decimals do not fit a double.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pyarrow as pa

from traceview.files import Peek, Stream
from traceview.jsonevents import EventSplitter, lines_table
from traceview.paths import content
from traceview.sink import Sink

NAME = "kineto"
TITLE = "PyTorch profiler (Kineto) JSON"
HOW = "torch.profiler.profile(...).export_chrome_trace(path), or traceview collect"
VERSION = 1

TABLES = ("kernels", "memcpys", "ops", "ranges", "api_calls", "collectives", "links", "counters", "events")
"""Tables an event can go to, each by `queries/ingest/kineto/<table>.sql`."""

_EVENTS = re.compile(rb'"traceEvents"\s*:|^\s*\[')
_KEYS = re.compile(rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds|distributedInfo)"\s*:')
_CATEGORIES = re.compile(
    rb'"cat"\s*:\s*"(cpu_op|Operator|Kernel|kernel|gpu_memcpy|gpu_memset|Memcpy|cuda_runtime|Runtime|'
    rb'user_annotation|python_function|cuda_driver)"'
)
_OLD_KEYS = ((b'"external id":', b'"External id":'), (b'"Input dims":', b'"Input Dims":'))
# A double holds 2^53: decimals after this many digits of microseconds would be lost, so the number becomes text.
_LONG_TIME = re.compile(rb'"ts"\s*:\s*((?:9\d{12}|\d{14,})\.\d+)')


def sniff(peek: Peek) -> bool:
    """Trace events with one of Kineto's categories, or an object with two of Kineto's own keys."""
    keys = {match.group(1) for match in _KEYS.finditer(peek.head)}
    return bool(_EVENTS.search(peek.head) and _CATEGORIES.search(peek.head)) or len(keys) >= 2


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file. What cannot be read is counted in `sink.problem`."""
    connection = sink.connection
    splitter = EventSplitter(stream)
    normalised = False
    for first in splitter:
        lines = first
        _parse(sink, lines)
        if not normalised and _is_spelled_otherwise(sink):
            normalised = True
            lines = splitter.again(normalise)
            _parse(sink, lines)
        n_rows = len(lines)
        doubtful = connection.execute('SELECT "row" FROM event WHERE ph IS NULL').fetchall()
        if doubtful:
            n_rows += _settle(splitter, sink, [row for (row,) in doubtful], lines)
        _store(sink)
        sink.next_id += n_rows
    connection.execute("DROP TABLE IF EXISTS event")
    connection.execute(f"CREATE OR REPLACE TABLE stage.links AS {_sql('links_joined')}")
    # An event takes four ids, so that it can fill rows of several tables.
    sink.next_id *= 4
    if stream.damage:
        sink.problem(stream.damage)
    if splitter.found and not splitter.ended:
        sink.problem("the file is cut off: its array of events does not end")
    _describe(sink, splitter.metadata)


def _parse(sink: Sink, lines: pa.Table) -> None:
    sink.connection.register("lines", lines)
    sink.connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {_sql('parse')}", {"first": sink.next_id})


def _is_spelled_otherwise(sink: Sink) -> bool:
    """Whether there are old keys, or times that a double cannot hold, in this part of the file."""
    return bool(sink.connection.execute("SELECT bool_or(is_spelled_otherwise) FROM event").fetchall()[0][0])


def normalise(text: bytes) -> bytes:
    """Write old keys as new files do, and quote the times that a double cannot hold exactly."""
    for old, new in _OLD_KEYS:
        text = text.replace(old, new)
    if not _LONG_TIME.search(text):
        return text
    return _LONG_TIME.sub(rb'"ts": "\1"', text)


@cache
def _sql(name: str) -> str:
    return (content("queries") / "ingest" / NAME / f"{name}.sql").read_text(encoding="utf-8")


def _settle(splitter: EventSplitter, sink: Sink, doubtful: list[int], lines: Any) -> int:
    """Replace pieces that are no events by the events that are really there; returns how many were added."""
    settled = splitter.settle(doubtful)
    connection = sink.connection
    connection.execute('DELETE FROM event WHERE "row" IN (SELECT unnest($rows))', {"rows": list(settled.drop)})
    if settled.events:
        connection.register("lines", lines_table([normalise(event) for event in settled.events], len(lines)))
        connection.execute(f"INSERT INTO event {_sql('parse')}", {"first": sink.next_id})
    if settled.bad:
        sink.problem("event that is no valid JSON", len(settled.bad), settled.bad)
        sink.count("n_events", len(settled.bad))
        sink.count("n_dropped", len(settled.bad))
    sink.count("n_repaired", settled.n_repaired)
    return len(settled.events)


def _store(sink: Sink) -> None:
    """Spread the parsed events over the tables."""
    connection = sink.connection
    n_events, n_untimed, examples = connection.execute(_sql("count")).fetchall()[0]
    sink.count("n_events", n_events)
    sink.count("n_kept", n_events - n_untimed)
    sink.count("n_dropped", n_untimed)
    if n_untimed:
        sink.problem("event without a readable time", n_untimed, examples or ())
    for table in TABLES:
        connection.execute(f"INSERT INTO stage.{table} BY NAME {_sql(table)}")


def _describe(sink: Sink, metadata: dict[str, Any]) -> None:
    """The facts beside the events: devices, rank, versions, clock."""
    base = metadata.get("baseTimeNanoseconds")
    sink.zero_unix_ns = base if isinstance(base, int) else 0
    devices = metadata.get("deviceProperties")
    for device in devices if isinstance(devices, list) else []:
        if isinstance(device, dict):
            sink.write_rows("devices", [_device(device)])
    job = metadata.get("distributedInfo")
    job = job if isinstance(job, dict) else {}
    rank = job.get("rank")
    sink.recorded_rank = rank if isinstance(rank, int) else None
    host = metadata.get("host_name")
    groups = job.get("pg_config")
    sink.write_rows(
        "ranks",
        [
            {
                "world_size": _whole(job.get("world_size")),
                "host": host if isinstance(host, str) else None,
                "backend": job.get("backend") if isinstance(job.get("backend"), str) else None,
                "process_groups": json.dumps(groups) if groups else None,
            }
        ],
    )
    sink.fact(
        tool="Kineto",
        tool_version=str(metadata["schemaVersion"]) if "schemaVersion" in metadata else None,
        framework="PyTorch",
        metadata={key: value for key, value in metadata.items() if key not in ("deviceProperties", "traceEvents")},
    )


def _device(device: dict[str, Any]) -> dict[str, Any]:
    major, minor = device.get("computeMajor"), device.get("computeMinor")
    name = device.get("name")
    return {
        "device": _whole(device.get("id")),
        "name": name if isinstance(name, str) else None,
        "kind": "gpu",
        "architecture": f"{major}.{minor}" if major is not None else None,
        "n_cores": _whole(device.get("numSms") or device.get("maxComputeUnits")),
        "max_threads_per_core": _whole(device.get("maxThreadsPerMultiprocessor")),
        "memory_bytes": _whole(device.get("totalGlobalMem")),
    }


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
