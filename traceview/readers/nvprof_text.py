"""nvprof's text and CSV output: GPU traces, API traces and summaries of CUDA 5 to 12.

Capture with `nvprof --print-gpu-trace [--csv] python train.py 2> nvprof.txt`; format:
https://docs.nvidia.com/cuda/profiler-users-guide/#nvprof. Columns are taken from the header line, because versions and
options add some; K, M and G are powers of 1024. A summary has no timeline: its rows become `events` of category
`summary` (see the view `summaries`), and no kernel is made up from them. What `--metrics` and `--events` counted
becomes `events` of category `kernel counter` (see the view `kernel_counters`): averages over all runs of a kernel.
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

NAME = "nvprof_text"
TITLE = "nvprof text or CSV (--print-gpu-trace, --print-api-trace, summaries)"
HOW = "nvprof --print-gpu-trace python train.py 2> nvprof.txt (on GPUs before Ampere)"
_sql = sql.texts(f"ingest/{NAME}")

NO_TIMELINE = "a summary has no timeline: its rows are in the views `summaries` and `kernel_counters`"
MAX_TABLES = 10_000
MAX_WARNINGS = 100

_HEADER = (
    r'^[ \t]*(?:"?Type"?(?:,|\s{2,}))?'
    r'"?(?:Start|Time\(%\)|Count)"?(?:,|\s{2,})"?(?:Duration|Time|Avg Size)"?(?:,|\s{2,})'
    r'.*"?Name"?'
)
_COUNTERS = r'^(?:"?Device"?,"?Kernel"?,)?"?Invocations"?(?:,|\s{2,})"?(?:Metric|Event) Name"?'
_UNITS = r"^(?:(?:[num]?s|%|[KMGT]?B(?:/s)?)?,)+(?:[num]?s|[KMGT]?B(?:/s)?)?$"
_TITLE = r"^\s*==(?:\d+|=+)== "
_NUMBER = r"[\d.]+(?:e[-+]?\d+)?"
_ROWS = {
    ("trace", False): rf"^\s*{_NUMBER}(?:ns|us|ms|s)\s",
    ("trace", True): rf'^"?{_NUMBER}"?,',
    ("summary", False): rf"^\s*(?:[A-Za-z][^%]*:\s+)?{_NUMBER}%?\s{{2,}}",
    ("summary", True): rf'^(?:"?[A-Za-z][^",]*"?)?,?"?{_NUMBER}"?,',
    ("counters", False): r"^\s*\d+\s{2,}[a-z]",
    ("counters", True): r'^".*,"?\d+"?,"?[a-z]\w*"?,',
}
_COLUMNS: dict[str, str] = read_toml(Path(__file__).with_suffix(".toml"))
"""Names of a column in nvprof's versions -> its name here."""

_SECTIONS = {"API": "API calls", "Profiling": "GPU activities"}
"""Sections of a summary that old versions name only in the line above."""


@dataclass
class Log:
    """Position of the reader in the log."""

    source: str
    process: int | None
    """The only process to read; None for all."""
    pid: int | None = None
    section: str | None = None
    scope: tuple[str, ...] = ()
    header: Header | None = None
    n_tables: int = 0
    n_summaries: int = 0
    n_counters: int = 0
    kernel: str | None = None
    counted_on: str | None = None
    """Kernel and device that rows of counters in a text belong to."""
    devices: list[str] = field(default_factory=list)


def sniff(peek: Peek) -> bool:
    """nvprof's banner or result line, or the header of one of its tables."""
    text = peek.head.decode("utf-8", "replace").replace("\r", "")
    banner = r"(?m)^[ \t]*==(?:\d+|=+)== (?:NVPROF is profiling|Profiling (?:result|application)|API calls:)"
    return text.lstrip()[:1] not in ("{", "[") and bool(re.search(banner, text) or re.search(f"(?m){_HEADER}", text))


def parts(path: Path) -> list[int]:
    """The processes whose results are in the log (`--profile-child-processes`), if there are several."""
    found: list[int] = []
    for lines in Lines(Stream(path)):
        titles = pc.filter(lines, pc.match_substring_regex(lines, r"^==\d+== .*(?:result|API calls):"))
        found += [int(title[2 : title.index("=", 2)]) for title in titles.to_pylist()]
    processes = sorted(set(found))
    return processes if len(processes) > 1 else []


def read(stream: Stream, sink: Sink, part: int | None = None) -> None:
    """Fill kernels, memcpys, api_calls and events from one log. Lines of other programs are passed over."""
    log = Log(stream.path.name, part)
    lines = Lines(stream)
    for batch in lines:
        _read_batch(log, batch, sink)
    lines.report(sink.problem)
    sink.write_rows("ranks", [{"pid": log.process or log.pid}])
    names = {_device_number(name, log.devices): re.sub(r"\s*\(\d*\)?$", "", name) for name in log.devices}
    sink.write_rows("devices", [{"device": at, "name": name, "kind": "gpu"} for at, name in names.items()])
    only_summaries = log.n_summaries + log.n_counters == sink.facts.get("n_kept")
    clock = NO_TIMELINE if only_summaries else "times since the profiler started; the log has no wall clock"
    sink.fact(tool="nvprof", clock=clock)


def _device_number(name: str, names: list[str]) -> int:
    number = re.search(r"\((\d+)\)$", name)
    return int(number.group(1)) if number else names.index(name)


def _read_batch(log: Log, lines: pa.Array, sink: Sink) -> None:
    """Rows between two marks belong to the table whose header came last."""
    pattern = f'(?:{_HEADER})|(?:{_COUNTERS})|(?:{_UNITS})|(?:{_TITLE})|^Device "|^    Kernel: '
    marks = pc.indices_nonzero(pc.match_substring_regex(lines, pattern))
    start = 0
    for mark in [*marks.to_pylist(), len(lines)]:
        _read_rows(log, lines[start:mark], sink)
        if mark < len(lines):
            _read_mark(log, lines[mark].as_py(), sink)
        start = mark + 1


def _read_mark(log: Log, line: str, sink: Sink) -> None:
    title = re.match(rf"{_TITLE}(.*)$", line)
    if title:
        _read_title(log, line.strip(), title.group(1), sink)
    elif line.startswith("    Kernel: "):
        log.kernel = line.strip().removeprefix("Kernel: ")
    elif line.startswith('Device "') and log.header and "Invocations" in log.header:
        log.counted_on = line.split('"')[1]
    elif line.startswith("Device "):
        log.section, log.header = "Unified Memory", None
    elif re.match(_UNITS, line):
        if log.header and log.header.csv and not log.header.units:
            log.header = Header(log.header.labels, True, tuple(line.split(",")))
    else:
        comma = '",' in line or re.match(r"[^\s,]+,", line.strip()) is not None
        labels = next(csv.reader([line.strip()])) if comma else re.split(r"\s{2,}", line.strip())
        log.header = Header(tuple(labels), comma)
        log.n_tables += 1
        if log.n_tables == MAX_TABLES + 1:
            sink.problem(f"more than {MAX_TABLES} tables: the rest of the log is left out")


def _read_title(log: Log, line: str, text: str, sink: Sink) -> None:
    """A line that nvprof marks as its own: the command, a warning, or what comes next."""
    pid = re.match(r"==(\d+)==", line)
    log.pid = int(pid.group(1)) if pid else log.pid
    if log.process not in (None, log.pid):
        log.header = None
        return
    command = re.search(r"command: (.*)$", text)
    scope = re.match(r"\s+(Thread|Domain|Range) (.*)$", text)
    if command:
        sink.fact(command=command.group(1).strip())
    elif text.startswith(("Warning:", "Error:")) and len(sink.warnings) < MAX_WARNINGS:
        sink.warnings.append(text)
    elif scope:
        depth = ("Thread", "Domain", "Range").index(scope.group(1))
        log.scope = (*log.scope[:depth], text.strip())
    elif text.rstrip().endswith(("result:", "API calls:")):
        log.header = None
        log.section = _SECTIONS.get(text.split(" ")[0], text.split(" result")[0])
        log.scope = ("NVTX",) if "NVTX" in text else ()


def _read_rows(log: Log, lines: pa.Array, sink: Sink) -> None:
    header = log.header
    if not len(lines) or header is None or log.n_tables > MAX_TABLES or log.process not in (None, log.pid):
        return
    kind = "trace" if "Start" in header else "counters" if "Invocations" in header else "summary"
    rows = pc.filter(lines, pc.match_substring_regex(lines, _ROWS[kind, header.csv]))
    if not len(rows):
        return
    connection = sink.connection
    register(connection, rows, header.places(_COLUMNS))
    before_name = rf"^(?:\S+(?: \S+)*\s{{2,}}){{{len(header.labels) - 1}}}"
    cells, values = ("cells_csv", None) if header.csv else ("cells_text", {"name_at": before_name})
    connection.execute(f"CREATE OR REPLACE TEMP TABLE cells AS {_sql(cells)}", values)
    n_kept = {"trace": _store_trace, "summary": _store_summary, "counters": _store_counters}[kind](log, sink)
    sink.next_id += len(rows)
    sink.account(len(rows), n_kept, "rows of nvprof that are cut or damaged")


def _store_trace(log: Log, sink: Sink) -> int:
    connection = sink.connection
    found = connection.execute(sql.text("ingest/printed_tables/devices")).fetchall()
    log.devices += [name for (name,) in found if name not in log.devices]
    values = {"first": sink.next_id, "devices": log.devices}
    connection.execute(f"CREATE OR REPLACE TEMP TABLE activity AS {_sql('activity')}", values)
    n_kept = 0
    for table in ("kernels", "memcpys", "api_calls", "events"):
        process = {"pid": log.pid} if table in ("api_calls", "events") else None
        added = connection.execute(f"INSERT INTO stage.{table} BY NAME {_sql(table)}", process).fetchall()
        n_kept += int(added[0][0])
    return n_kept


def _store_summary(log: Log, sink: Sink) -> int:
    connection = sink.connection
    values = {
        "first": sink.next_id,
        "section": log.section,
        "scope": " / ".join(log.scope) or None,
        "source": log.source,
    }
    added = connection.execute(f"INSERT INTO stage.events BY NAME {_sql('summary')}", values).fetchall()
    last = connection.execute(_sql("last_section")).fetchall()
    log.section = last[0][0] or log.section
    log.n_summaries += int(added[0][0])
    return int(added[0][0])


def _store_counters(log: Log, sink: Sink) -> int:
    values = {"first": sink.next_id, "source": log.source, "kernel": log.kernel, "device": log.counted_on}
    added = sink.connection.execute(f"INSERT INTO stage.events BY NAME {_sql('counters')}", values).fetchall()
    log.n_counters += int(added[0][0])
    return int(added[0][0])
