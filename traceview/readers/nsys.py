"""Nsight Systems exports: SQLite (nsys 2019 to 2026), `parquetdir`, `arrowdir` and Arrow streams.

Capture with `nsys profile --trace=cuda,nvtx,cudnn,cublas --cuda-graph-trace=node -o trace COMMAND`, then export with
`nsys export --type sqlite trace.nsys-rep`. Format: https://docs.nvidia.com/nsight-systems/UserGuide/ (exporter schema).
Times are nanoseconds since the session's start. Correlation numbers repeat across processes, so every process that used
a device is read as a rank of its own. CPU samples and scheduling (`COMPOSITE_EVENTS`, `SCHED_EVENTS`) are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from traceview import sql
from traceview.decode.arrow import TABLE_FILE
from traceview.decode.columns import Processes, Tables
from traceview.decode.databases import open_tables, sqlite_tables
from traceview.decode.files import Peek, Stream
from traceview.errors import InputError
from traceview.ingest import secrets
from traceview.ingest.foreign_tables import Ingest
from traceview.ingest.sink import Sink
from traceview.paths import content

NAME = "nsys"
TITLE = "Nsight Systems export (SQLite, Parquet folder, Arrow)"
HOW = "nsys profile --trace=cuda,nvtx,cudnn,cublas, then nsys export --type sqlite"

DEVICE_TABLES = tuple(f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"))
OTHER_TABLES = frozenset(
    {"TARGET_INFO_SESSION_START_TIME", "NVTX_EVENTS", "META_DATA_EXPORT", "TARGET_INFO_SYSTEM_ENV"}
)
QUERIES = (
    "string", "metric", "kernels", "memcpys", "memsets", "graphs", "api_calls", "nvtx", "nvtx_ranges", "nvtx_events",
    "libraries", "events", "cuda_events", "counters",
)  # fmt: skip
_ARROW_STREAM = b"\xff\xff\xff\xff"
_PROCESS_ENVIRONMENT = "ENVIRONMENT_VARIABLE"
_DEVICE_ENVIRONMENT = "DeviceEnvironment"
_BETWEEN_VARIABLES = re.compile(r"\0|;(?=\w+=)")
_SEVERE = 2
"""DIAGNOSTIC_EVENT.severity from which on a message is a warning: 1 is information, 2 a warning, 3 an error."""


@dataclass(frozen=True)
class Part:
    """One process that used a device, and whose rows are read with it: the first one takes in what belongs to none."""

    pid: int
    processes: Processes


def sniff(peek: Peek) -> bool:
    """A database or folder with the tables of an nsys export, or an Arrow stream that says it is one of them."""
    if peek.path.is_dir():
        return is_export(TABLE_FILE.sub("", file.name) for file in peek.path.iterdir() if TABLE_FILE.search(file.name))
    if peek.head.startswith(_ARROW_STREAM):
        return b"table_name" in peek.head and bool(re.search(rb"StringIds|CUPTI_ACTIVITY_KIND_|META_DATA_", peek.head))
    return is_export(sqlite_tables(peek.path, peek.head))


def is_export(names: Any) -> bool:
    """Whether these are tables of nsys: names are kept in StringIds, which no other tool does."""
    found = set(names)
    return "StringIds" in found and bool(found & (OTHER_TABLES | set(DEVICE_TABLES)))


def parts(path: Path) -> list[Part | None]:
    """The processes that used a device, in the order of their devices."""
    first_device: dict[int, int] = {}
    with open_tables(path) as tables:
        for table in DEVICE_TABLES:
            if table not in tables.columns:
                continue
            for batch in tables.rows(table, {"globalPid": "BIGINT", "deviceId": "BIGINT"}):
                grouped = batch.filter(pc.is_valid(batch.column(0)))
                pids = pc.bit_wise_and(pc.shift_right(grouped.column(0), 24), 0xFFFFFF)
                for pid in pc.unique(pids).to_pylist():
                    least = pc.min(grouped.column(1).filter(pc.equal(pids, pid))).as_py() or 0
                    first_device[pid] = min(first_device.get(pid, least), least)
    order = sorted(first_device, key=lambda pid: (first_device[pid], pid))
    others = [Part(pid, Processes(frozenset({pid}), False)) for pid in order[1:]]
    return [Part(order[0], Processes(frozenset(order[1:]), True)), *others] if order else [None]


def read(stream: Stream, sink: Sink, part: Part | None = None) -> None:
    """Fill the tables from one export, or from one process of it."""
    with open_tables(stream.path) as tables:
        values = {"pid": part.pid if part else None}
        processes = part.processes if part else None
        ingest = Ingest(sink, tables, content("queries") / "ingest" / NAME, processes, "", values)
        for query in QUERIES:
            ingest.run(query)
        ingest.values = {**values, "zero": sink.earliest_ns()}
        ingest.run("threads")
        facts = _describe(ingest, part)
        _explain(sink, tables, facts)
        ingest.close()
    if not sink.facts.get("n_kept"):
        reason = next(iter(sink.problems), "it holds no events")
        raise InputError(f"{stream.path.name} holds nothing that can be shown: {reason}.")
    if stream.progress:
        stream.progress(sum(file.stat().st_size for file in [stream.path] if file.is_file()))


def _describe(ingest: Ingest, part: Part | None) -> dict[str, list[str]]:
    """Facts about the run: versions, clock, devices, warnings. Returns the export's and the capture's own metadata."""
    sink = ingest.sink
    named = {"name": "VARCHAR", "value": "VARCHAR"}
    facts: dict[str, list[str]] = {}
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV"):
        for row in ingest.rows_of(table, named):
            facts.setdefault(str(row["name"]), []).append(str(row["value"]))
    command, facts = _command(facts), _without_process(facts)
    started = ingest.rows_of("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs": "BIGINT"})
    sink.zero_unix_ns = next((row["utcEpochNs"] for row in started if row["utcEpochNs"]), None)
    for row in ingest.rows_of("DIAGNOSTIC_EVENT", {"severity": "BIGINT", "text": "VARCHAR"}):
        if (row["severity"] or 0) >= _SEVERE and row["severity"] <= 3 and row["text"] not in sink.warnings:
            sink.warnings.append(row["text"])
    for query in ("gpu", "cuda_device", "devices"):
        ingest.run(query)
    host = facts.get("Hostname") or facts.get("HostName")
    sink.write_rows("ranks", [{"pid": part.pid if part else None, "host": host[0] if host else None}])
    schema, product = _first(facts, "EXPORT_SCHEMA_VERSION"), _first(facts, "EXPORT_PRODUCT_VERSION")
    unread = [table for table in ingest.unread() if not table.startswith("ENUM_")]
    sink.fact(
        tool="Nsight Systems",
        tool_version=product or (f"schema {schema}" if schema else None),
        command=command,
        metadata={"schema_version": schema, "tables_not_read": unread, "capture": facts},
    )
    return facts


def _first(facts: dict[str, list[str]], name: str) -> str | None:
    return next(iter(facts.get(name, ())), None)


def _command(facts: dict[str, list[str]]) -> str | None:
    words = facts.get("PROCESS_0:COMMAND", [])
    number = 0
    while words and (argument := _first(facts, f"PROCESS_0:ARGUMENT_{number}")) is not None:
        words = [*words, argument]
        number += 1
    return " ".join(secrets.command(words)) or None


def _without_process(facts: dict[str, list[str]]) -> dict[str, list[str]]:
    """The facts without command lines, and of the environment only what a capture may keep: nsys records all of it."""
    allowed: dict[str, list[str]] = {}
    for name, values in facts.items():
        kind = name.partition(":")[2]
        if name == _DEVICE_ENVIRONMENT or kind == _PROCESS_ENVIRONMENT:
            split = _BETWEEN_VARIABLES if name == _DEVICE_ENVIRONMENT else None
            entries = [entry for value in values for entry in (split.split(value) if split else [value])]
            pairs = dict(entry.partition("=")[::2] for entry in entries)
            found = secrets.environment({key: value.strip('"') for key, value in pairs.items()})
            allowed[name] = [f"{key}={value}" for key, value in found.items()]
        elif not kind.startswith("ARGUMENT_"):
            allowed[name] = values
    return allowed


def _explain(sink: Sink, tables: Tables, facts: dict[str, list[str]]) -> None:
    """Say why there are no kernels, where there are none, and what a graph traced as a whole hides."""
    counted = sink.connection.execute(sql.text("ingest/nsys/traced")).fetchall()
    n_kernels, n_calls, n_graphs = counted[0]
    if n_graphs:
        sink.warnings.append(
            f"{n_graphs} CUDA graph launches were recorded as a whole, without their kernels; "
            "profile with --cuda-graph-trace=node to see them."
        )
    if n_kernels:
        # It is said of another process of the session, as of the launcher.
        sink.warnings[:] = [text for text in sink.warnings if not text.startswith("No CUDA events collected")]
        return
    if n_graphs:
        reason = "no kernel was recorded: they ran in CUDA graphs that were traced as a whole (--cuda-graph-trace=node)"
    elif n_calls:
        reason = "CUDA calls were traced but no kernel: none was launched, or the program ended before it was recorded"
    elif "Cuda" in facts.get("CAPTURE_EVENT_TYPE", ()):
        reason = "no GPU work was traced although CUDA tracing was on: the program used no GPU, or tracing failed"
    else:
        reason = "no GPU work was traced: nsys was run without --trace=cuda or the program used no GPU"
    sink.problem(reason)
    sink.warnings.append(reason)
