"""Output of `nsys stats` as CSV: traces of the GPU, of API calls and of NVTX ranges, and summaries.

Capture with `nsys stats --format csv --report cuda_gpu_trace --report cuda_api_trace run.nsys-rep > nsys.csv`; reports:
https://docs.nvidia.com/nsight-systems/UserGuide/index.html#report-scripts. Units stand in the header, as in
`Bytes (MB)`; K, M and G are powers of 1000 here, so sizes are as exact as three decimals of a megabyte. The export to
SQLite (`nsys export --type sqlite`) holds more than any of these reports. A summary has no timeline: see the view
`summaries`. Reports in one file are one process; reports in files of their own become ranks of their own.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.decode.printed_tables import Header, register
from traceview.decode.text_lines import Lines
from traceview.ingest.sink import Sink
from traceview.paths import read_toml

NAME = "nsys_csv"
TITLE = "nsys stats CSV (cuda_gpu_trace, cuda_api_trace, nvtx_pushpop_trace, *_sum)"
HOW = "nsys stats --format csv --report cuda_gpu_trace --report cuda_api_trace run.nsys-rep > nsys.csv"
_sql = sql.texts(f"ingest/{NAME}")

NO_TIMELINE = "a summary has no timeline: its rows are in the view `summaries`"
MAX_TABLES = 10_000

_UNIT = r" ?\((?:[num]?s|[num]?sec)\)"
_HEADER = (
    rf'^"?(?:Start{_UNIT}"?,"?(?:Duration|End){_UNIT}|Time ?\(%\)"?,"?Total Time{_UNIT}|'
    r'Total \([KMG]?i?B\)"?,"?Count"?,)'
)
_TITLE = r"^(?:Processing \[.*\] with \[.*\]|\s*\*\* .* \(\w+\):)"
_REPORT = re.compile(r"([A-Za-z]\w*?)(?:\.py)?(?:\[[^\]]*\])?[\])]+[:.\s]*$")
_ROW = r'^"?[-+]?[\d.]+(?:e[-+]?\d+)?"?,'
_COLUMNS: dict[str, str] = read_toml(Path(__file__).with_suffix(".toml"))
"""Names of a column in nsys' versions -> its name here."""
_REPORTS = (("Num Calls", "cuda_api_sum"), ("Operation", "cuda_gpu_mem_sum"), ("Range", "nvtx_sum"))
"""Columns that only these reports have: for a table whose title is not in the file."""


@dataclass
class Log:
    """Position of the reader in the file."""

    source: str
    header: Header | None = None
    title: str | None = None
    section: str | None = None
    n_tables: int = 0
    n_summaries: int = 0
    devices: list[str] = field(default_factory=list)


def sniff(peek: Peek) -> bool:
    """The header of one of these reports, with its units."""
    text = peek.head.decode("utf-8", "replace").replace("\r", "").removeprefix("\ufeff")
    return bool(re.search(f"(?m){_HEADER}", text))


def read(stream: Stream, sink: Sink) -> None:
    """Fill kernels, memcpys, api_calls, ranges and events from one file of one or several reports."""
    log = Log(stream.path.name)
    lines = Lines(stream)
    for batch in lines:
        marks = pc.indices_nonzero(pc.match_substring_regex(batch, f"(?:{_HEADER})|(?:{_TITLE})")).to_pylist()
        start = 0
        for mark in [*marks, len(batch)]:
            _read_rows(log, batch[start:mark], sink)
            if mark < len(batch):
                _read_mark(log, batch[mark].as_py(), sink)
            start = mark + 1
    lines.report(sink.problem)
    shared = sink.connection.execute(_sql("shared_numbers")).fetchall()[0][0]
    if shared:
        sink.problem("calls of several processes with one number: what they launched is unknown", shared)
    sink.write_rows("ranks", [{"world_size": None, "host": None}])
    for number, name in enumerate(log.devices):
        found = re.search(r"\((\d+)\)$", name)
        product = re.sub(r"\s*\(\d+\)$", "", name)
        sink.write_rows("devices", [{"device": int(found[1]) if found else number, "name": product, "kind": "gpu"}])
    only_summaries = log.n_summaries == sink.facts.get("n_kept")
    clock = NO_TIMELINE if only_summaries else "times since the session began; the report has no wall clock"
    sink.fact(tool="Nsight Systems", clock=clock)


def _read_mark(log: Log, line: str, sink: Sink) -> None:
    if not re.match(_HEADER, line):
        found = _REPORT.search(line)
        log.title, log.header = found[1] if found else None, None
        return
    cells = [re.match(r"(.*?) ?(?:\(([^)]*)\))?$", cell) for cell in next(csv.reader([line]))]
    labels = tuple(cell[1].strip() if cell else "" for cell in cells)
    units = tuple(re.sub(r"sec$", "s", cell[2]) if cell and cell[2] else None for cell in cells)
    log.header = Header(labels, True, units)
    guess = next((report for label, report in _REPORTS if label in labels), "cuda_gpu_kern_sum")
    log.section, log.title = log.title or guess, None
    log.n_tables += 1
    if log.n_tables == MAX_TABLES + 1:
        sink.problem(f"more than {MAX_TABLES} tables: the rest of the file is left out")


def _read_rows(log: Log, lines: pa.Array, sink: Sink) -> None:
    header = log.header
    if not len(lines) or header is None or log.n_tables > MAX_TABLES:
        return
    rows = pc.filter(lines, pc.match_substring_regex(lines, _ROW))
    if not len(rows):
        return
    register(sink.connection, rows, header.places(_COLUMNS))
    sink.connection.execute(f"CREATE OR REPLACE TEMP TABLE cells AS {_sql('cells')}")
    n_kept = _store_trace(log, header, sink) if "Start" in header else _store_summary(log, sink)
    sink.next_id += len(rows)
    sink.account(len(rows), n_kept, "rows of an nsys report that are cut or damaged")


def _store_trace(log: Log, header: Header, sink: Sink) -> int:
    connection = sink.connection
    found = connection.execute(sql.text("ingest/printed_tables/devices")).fetchall()
    log.devices += [name for (name,) in found if name not in log.devices]
    values = {"first": sink.next_id, "devices": log.devices}
    connection.execute(f"CREATE OR REPLACE TEMP TABLE activity AS {_sql('activity')}", values)
    is_device = any(name in header for name in ("Device", "Strm", "GrdX", "SrcMemKd"))
    tables = ("kernels", "memcpys") if is_device else ("api_calls",) if "Result" in header else ("ranges",)
    return sum(
        int(connection.execute(f"INSERT INTO stage.{table} BY NAME {_sql(table)}").fetchall()[0][0]) for table in tables
    )


def _store_summary(log: Log, sink: Sink) -> int:
    values = {"first": sink.next_id, "section": log.section, "source": log.source}
    added = sink.connection.execute(f"INSERT INTO stage.events BY NAME {_sql('summary')}", values).fetchall()
    log.n_summaries += int(added[0][0])
    return int(added[0][0])
