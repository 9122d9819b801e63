"""The log of traceview's receiver of NVTX: alone, beside a trace, and damaged."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from asked import connected, rows

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, nvtx

ZERO = 1_795_000_000_000_000_000


def header(n_lost: int = 0) -> str:
    return f"traceview-nvtx\t1\t40\t39\t{n_lost:020}\t\n"


def line(kind: str, at_us: int, number: int, name: str = "", tid: int = 41, domain: str = "") -> str:
    return f"{kind}\t{ZERO + at_us * 1000}\t{number}\t{tid}\t{domain}\t{name}\n"


LOG = (
    header()
    + "\n\n"
    + line("R", 0, 9_000, "step 3")
    + line("R", 1, 2_000, "load", domain="data")
    + "\n" * 50
    + line("S", 2, 7, "across")
    + line("M", 4, 0, "mark")
    + line("R", 4, 100, "traceview.module: conv1 (Conv2d)", tid=42)
    + line("E", 5, 7, tid=42)
    + line("S", 6, 8, "never ended")
)


def opened(folder: Path, **texts: str) -> duckdb.DuckDBPyConnection:
    """The capture of some files by their names, _ for a dot."""
    paths = [folder / name.replace("_", ".") for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return connected(store.convert(paths, folder / "capture"))


RANGES = (
    "SELECT kind, name, domain, start_ns, dur_ns, pid, tid FROM ranges WHERE kind != 'user' ORDER BY start_ns, kind"
)


def test_alone_it_has_steps_ranges_and_marks(tmp_path: Path) -> None:
    connection = opened(tmp_path, a_log=LOG)
    assert rows(connection, RANGES) == [
        ("step", "step 3", None, 0, 9_000, 40, 41),
        ("nvtx", "load", "data", 1_000, 2_000, 40, 41),
        ("nvtx", "across", None, 2_000, 3_000, 40, None),
        ("module", "conv1 (Conv2d)", None, 4_000, 100, 40, 42),
    ]
    assert rows(connection, "SELECT phase, name, start_ns, category FROM events ORDER BY start_ns") == [
        ("mark", "mark", 4_000, "nvtx"),
        ("open range", "never ended", 6_000, "nvtx"),
    ]
    assert rows(connection, "SELECT step, dur_ns FROM steps") == [(3, 9_000)]
    assert rows(
        connection, "SELECT pid, origin_unix_ns, n_events, n_kept, n_dropped, problems FROM ranks, captures"
    ) == [(40, ZERO, 7, 7, 0, None)]


def trace(**facts: object) -> str:
    """A Kineto trace of one step, which begins 10 microseconds before the first range of the log."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 40, "tid": 41, "ts": 5, "dur": 30}]
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], **facts, "traceEvents": events})


def test_beside_a_trace_it_is_on_its_clock_and_adds_no_steps(tmp_path: Path) -> None:
    kineto = trace(baseTimeNanoseconds=ZERO - 15_000)
    connection = opened(tmp_path, a_json=kineto, a_log=LOG)
    assert rows(connection, RANGES)[:3] == [
        ("step", "ProfilerStep#3", None, 0, 30_000, 40, 41),
        ("nvtx", "step 3", None, 10_000, 9_000, 40, 41),
        ("nvtx", "load", "data", 11_000, 2_000, 40, 41),
    ]
    assert rows(connection, "SELECT DISTINCT step FROM ranges") == [(3,)]
    assert rows(connection, "SELECT count(*), count(DISTINCT rank) FROM ranks") == [(1, 1)]


def test_beside_a_trace_without_a_wall_clock_it_cannot_be_placed(tmp_path: Path) -> None:
    profile = [{"cat": "Session", "pid": 40, "tid": 41, "dur": 9, "ts": 1, "ph": "X", "name": "model_run", "args": {}}]
    with pytest.raises(InputError, match="cannot be placed: the trace beside it has no wall clock"):
        opened(tmp_path, a_json=json.dumps(profile), a_log=LOG)


def test_what_was_lost_or_damaged_is_counted(tmp_path: Path) -> None:
    text = header(5) + line("R", 0, 10, "a") + "R\t12\t\n" + "X\t1\t2\t3\t\tb\n" + line("R", 1, 1, "b")[:-4]
    connection = opened(tmp_path, a_log=text)
    assert rows(connection, "SELECT n_events, n_kept, n_dropped FROM captures") == [(9, 1, 8)]
    problems = rows(connection, "SELECT unnest(problems).kind, unnest(problems).n FROM captures")
    assert [(kind.split(" ")[0], n) for kind, n in problems] == [("lines", 3), ("the", 1), ("range", 5)]


def test_its_first_line_is_known_by_this_reader_alone(tmp_path: Path) -> None:
    path = tmp_path / "unknown"
    path.write_text(LOG, encoding="utf-8")
    assert [reader for reader in READERS if reader.sniff(peek(path))] == [nvtx]
