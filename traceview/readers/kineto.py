"""Kineto JSON: what `torch.profiler` writes, from PyTorch 1.8 to today, on CUDA, ROCm and CPU.

Capture with `torch.profiler.profile(...).export_chrome_trace(path)`. Format: libkineto's `output_json.cpp`
(https://github.com/pytorch/kineto). Times are microseconds: absolute integers in old files, three decimals relative to
`baseTimeNanoseconds` in new ones, absolute with decimals in between; all are converted through decimal digits, because
sixteen digits and three decimals do not fit a double.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.decode.json_repair import strict_json
from traceview.ingest.fast_path import Route
from traceview.ingest.sink import EPOCH, Sink
from traceview.ingest.trace_events import Form, fill, quote_long_times
from traceview.paths import read_toml

NAME = "kineto"
TITLE = "PyTorch profiler (Kineto) JSON"
HOW = "torch.profiler.profile(...).export_chrome_trace(path), or traceview collect"

NO_BASE = "times as in the file, which records no wall clock; ranks are taken to share a zero"
MEMORY = ("counters", "allocations")
"""Tables of the events of an allocator."""
TABLES = ("kernels", "memcpys", "ops", "ranges", "api_calls", "collectives", "links", *MEMORY, "events")
"""Tables an event can go to, each by `queries/ingest/kineto/<table>.sql`."""

_EVENTS = re.compile(rb'"traceEvents"\s*:|^\s*\[')
_KEYS = re.compile(rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds|distributedInfo)"\s*:')
CATEGORIES: dict[str, dict[str, Any]] = read_toml(Path(__file__).with_suffix(".toml"))
"""Kineto's categories: the table to which each goes, and how it is recognised."""
_OLD_SPELLINGS = [category["old"] for category in CATEGORIES.values() if "old" in category]
_TELLING = [*_OLD_SPELLINGS, *(name for name, category in CATEGORIES.items() if category.get("tells"))]
_CATEGORIES = re.compile(rf'"cat"\s*:\s*"({"|".join(_TELLING)})"'.encode())
_OTHERS = re.compile(rb'"cat"\s*:\s*"(?:Session|Node)"')
"""Categories of ONNX Runtime, which calls kernels Kernel, as PyTorch 1 did."""
_OLD_KEYS = ((b'"external id":', b'"External id":'), (b'"Input dims":', b'"Input Dims":'))


def sniff(peek: Peek) -> bool:
    """Trace events with one of Kineto's categories, or an object with two of Kineto's own keys."""
    keys = {match.group(1) for match in _KEYS.finditer(peek.head)}
    has_events = bool(_EVENTS.search(peek.head) and _CATEGORIES.search(peek.head))
    return (has_events and not _OTHERS.search(peek.head)) or len(keys) >= 2


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file. What cannot be read is counted in `sink.problem`."""
    metadata = fill(stream, sink, FORM)
    sink.replace("links", sql.text("ingest/kineto/links_joined"))
    _complete(sink)
    _describe(sink, metadata)


def _complete(sink: Sink) -> None:
    """Give each annotation around an NCCL call, which has its shapes, its kernel; those without one are ranges only.

    An allocation and its release become one row, beside rows of what the recorded totals hold more.
    """
    annotations = "stage.collectives WHERE kernel_id IS NULL AND name LIKE 'nccl:%'"
    query = f"SELECT EXISTS (FROM {annotations}), EXISTS (FROM stage.allocations)"
    has_annotations, has_allocations = sink.connection.execute(query).fetchall()[0]
    if has_annotations:
        sink.connection.execute(sql.text("ingest/kineto/annotated"))
        sink.connection.execute(f"DELETE FROM {annotations}")
    if has_allocations:
        with sink.whole():
            sink.replace("allocations", sql.text("ingest/kineto/allocations_paired"))


def normalise(text: bytes) -> bytes:
    """Write old keys as new files do, and quote the times that a double cannot hold exactly."""
    for old, new in _OLD_KEYS:
        text = text.replace(old, new)
    return quote_long_times(text)


def _fast(table: str) -> tuple[str, ...]:
    return tuple(name for name, each in CATEGORIES.items() if each["table"] == table and each.get("fast"))


ROUTES = (
    Route(("ops",), categories=_fast("ops")),
    Route(("api_calls",), categories=_fast("api_calls")),
    Route(
        ("kernels", "collectives"), categories=_fast("kernels"), on_thread=False, second_holds=('"Collective name"',)
    ),
    Route(("memcpys",), categories=_fast("memcpys"), on_thread=False, spills=False),
    Route(
        ("ranges", "collectives"),
        categories=_fast("ranges"),
        second_holds=("gloo", "mpi", "ucc", "nccl:"),
        spills=False,
    ),
    Route(("links",), phases=("s", "f")),
    Route(
        MEMORY,
        phases=("i",),
        categories=("cpu_instant_event",),
        name="[memory]",
        second_holds=("[memory]",),
        one_row=False,
    ),
)
FORM = Form(
    folder=NAME,
    tables=TABLES,
    parse="kineto/parse",
    values={
        "tables": {"key": list(CATEGORIES), "value": [category["table"] for category in CATEGORIES.values()]},
        "old_spellings": _OLD_SPELLINGS,
    },
    ids=4,
    rewrite=normalise,
    routes=ROUTES,
)


def _describe(sink: Sink, metadata: dict[str, Any]) -> None:
    """The facts beside the events: devices, rank, versions, clock."""
    base = _integer(metadata.get("baseTimeNanoseconds"))
    sink.zero_unix_ns = base or 0
    if base is None:
        with sink.whole():
            latest = sink.connection.execute(sql.text("ingest/kineto/latest")).fetchall()[0][0]
        sink.fact(clock=None if latest is None or latest > EPOCH else NO_BASE)
    devices = metadata.get("deviceProperties")
    known = [_device(device) for device in devices if isinstance(device, dict)] if isinstance(devices, list) else []
    sink.write_rows("devices", known)
    job = metadata.get("distributedInfo")
    job = job if isinstance(job, dict) else {}
    rank = job.get("rank")
    sink.recorded_rank = rank if isinstance(rank, int) else None
    host = metadata.get("host_name")
    exported = metadata.get("traceview")
    framework = exported.get("framework") if isinstance(exported, dict) else None
    groups = job.get("pg_config")
    if isinstance(groups, list) and len(groups) == 1 and isinstance(groups[0], dict):
        # In a job with one process group a collective that does not name its group is that one's.
        size = {"size": _integer(groups[0].get("pg_size"))}
        sink.connection.execute(sql.text("ingest/kineto/group_sizes"), size)
    sink.write_rows(
        "ranks",
        [
            {
                "world_size": _integer(job.get("world_size")),
                "host": host if isinstance(host, str) else None,
                "backend": job.get("backend") if isinstance(job.get("backend"), str) else None,
                "process_groups": strict_json(groups).decode() if groups else None,
            }
        ],
    )
    sink.fact(
        tool="Kineto",
        tool_version=str(metadata["schemaVersion"]) if "schemaVersion" in metadata else None,
        framework=framework if isinstance(framework, str) else "PyTorch",
        metadata={key: value for key, value in metadata.items() if key not in ("deviceProperties", "traceEvents")},
    )


def _device(device: dict[str, Any]) -> dict[str, Any]:
    major, minor = device.get("computeMajor"), device.get("computeMinor")
    name = device.get("name")
    return {
        "device": _integer(device.get("id")),
        "name": name if isinstance(name, str) else None,
        "kind": "gpu",
        "architecture": f"{major}.{minor}" if major is not None else None,
        "n_cores": _integer(device.get("numSms") or device.get("maxComputeUnits")),
        "max_threads_per_core": _integer(device.get("maxThreadsPerMultiprocessor")),
        "memory_bytes": _integer(device.get("totalGlobalMem")),
    }


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
