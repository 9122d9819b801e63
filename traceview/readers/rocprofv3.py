"""rocprofv3 JSON: kernels, copies, HIP and HSA calls and roctx ranges of AMD GPUs.

Capture with `rocprofv3 --runtime-trace --output-format json -- COMMAND`. Format: rocprofiler-sdk-tool of
https://github.com/ROCm/rocprofiler-sdk. Times are nanoseconds since the machine started. The file is one
nested object with an array per kind of record, each read as a stream, so that memory does not grow with the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.decode.json_events import EventSplitter, lines_table
from traceview.ingest import secrets
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import settle

NAME = "rocprofv3"
TITLE = "rocprofv3 JSON"
HOW = "rocprofv3 --runtime-trace --output-format json -- COMMAND"
_sql = sql.texts(f"ingest/{NAME}")

RECORDS = (
    *("kernel_dispatch", "memory_copy", "hip_api", "hsa_api", "marker_api", "rccl_api", "memory_allocation"),
    *("scratch_memory", "rocdecode_api", "rocjpeg_api", "ompt", "kfd_page_migration", "counter_collection"),
)
"""Arrays whose objects are things that happened."""
NAMES = {"agents": "agent", "kernel_symbols": "symbol", "buffer_records": "operation", "marker_api": "marker"}
"""Arrays whose objects name things, and the temporary table each goes to."""
KEYS = {"agent": "handle", "symbol": "kernel_id", "operation": "kind_number, operation", "marker": "correlation"}
"""Keys to look things up by in these tables. A file may name one twice; a record must not become two rows by that."""
TABLES = ("kernels", "memcpys", "api_calls", "ranges", "events")
_METADATA = re.compile(rb'"metadata"\s*:\s*(?=\{)')


def sniff(peek: Peek) -> bool:
    """The tool's own name as the first key."""
    return bool(re.match(rb'\s*\{\s*"rocprofiler-sdk-tool"\s*:', peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file; what names things comes before what happened."""
    blocks = iter(stream)
    first = next(blocks, b"")
    metadata = _metadata(first)
    _make_empty(sink)
    for name, splitter in _arrays(chain([first], blocks), (*NAMES, *RECORDS)):
        for lines in splitter:
            _store(sink, name, splitter, lines, metadata.get("pid"))
        if not splitter.ended:
            sink.problem(f"the file is cut off: its array {name} does not end")
    if stream.damage:
        sink.problem(stream.damage)
    _describe(sink, metadata)


def _metadata(block: bytes) -> dict[str, Any]:
    """The facts about the run, which stand in the first block."""
    match = _METADATA.search(block)
    try:
        found = match and json.JSONDecoder().raw_decode(block[match.end() :].decode("utf-8", "replace"))[0]
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _arrays(blocks: Iterable[bytes], names: Iterable[str]) -> Iterator[tuple[str, EventSplitter]]:
    """Every array of objects that stands under one of these keys, however deep, in the order of the file.

    Each splitter must be used up before the next is asked for. Text between arrays is passed over.
    """
    key = re.compile(rb'"(' + b"|".join(name.encode() for name in names) + rb')"\s*:\s*\[\s*(?=\{)')
    blocks = iter(blocks)
    text = b""
    while True:
        match = key.search(text)
        if match:
            splitter = EventSplitter(blocks, inside=text[match.end() :])
            yield match.group(1).decode(), splitter
            text = splitter.rest
            continue
        more = next(blocks, None)
        if more is None:
            return
        text = text[-256:] + more


def _make_empty(sink: Sink) -> None:
    """The tables of names, so that every query runs whatever the file holds."""
    _parse(sink, "", lines_table([], []))
    for table in (*NAMES.values(), "used"):
        sink.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {_sql(table)}")


def _parse(sink: Sink, name: str, lines: pa.Table, make: str = "CREATE OR REPLACE TEMP TABLE record AS") -> None:
    sink.connection.register("lines", lines)
    sink.connection.execute(f"{make} {_sql('record')}", {"first": sink.next_id, "buffer": name})


def _store(sink: Sink, name: str, splitter: EventSplitter, lines: pa.Table, pid: Any) -> None:
    """One part of one array."""
    connection = sink.connection
    _parse(sink, name, lines)
    why = ("records that are not valid JSON", "records that are longer than 4 MiB or nested too deep")
    parse = partial(_parse, sink, name, make="INSERT INTO record")
    settled = settle(sink, splitter, _sql, len(lines), parse, why, are_events=name in RECORDS)
    for table in [NAMES[name]] if name in NAMES else ["used"] if name == "kernel_dispatch" else []:
        connection.execute(f"INSERT INTO {table} {_sql(table)}")
        if table in KEYS:
            once = f"SELECT DISTINCT ON ({KEYS[table]}) * FROM {table}"
            connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {once}")
    n_records = 0
    if name in RECORDS:
        for table in TABLES:
            body = _sql(table)
            values = {"pid": pid if isinstance(pid, int) else None} if "$pid" in body else None
            connection.execute(f"INSERT INTO stage.{table} BY NAME {body}", values)
        n_records, n_timed = connection.execute(_sql("count")).fetchall()[0]
        sink.count("n_events", n_records)
        sink.count("n_kept", n_timed)
        sink.count("n_dropped", n_records - n_timed)
        if n_timed < n_records:
            sink.problem(f"{name} without a readable time", n_records - n_timed)
    sink.next_id += len(lines) + len(settled.events)


def _describe(sink: Sink, metadata: dict[str, Any]) -> None:
    connection = sink.connection
    connection.execute(f"INSERT INTO stage.devices BY NAME {_sql('devices')}")
    ids, names = connection.execute(_sql("facts")).fetchall()[0]
    node = metadata.get("node")
    host = node.get("hostname") if isinstance(node, dict) else None
    pid = metadata.get("pid")
    command = metadata.get("command")
    sink.write_rows(
        "ranks",
        [{"host": host if isinstance(host, str) else None, "pid": pid if isinstance(pid, int) else None}],
    )
    sink.fact(
        tool="rocprofv3",
        command=" ".join(secrets.command([str(word) for word in command])) if isinstance(command, list) else None,
        metadata={"n_kernel_ids": ids, "n_mangled_names": names, "node": node},
    )
