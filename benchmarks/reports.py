"""How long every report takes over a capture of many kernels.

    python benchmarks/reports.py TRACE [--kernels 10000000] [--keep FOLDER] [--report NAME ...] [--limit SECONDS]

The trace is converted once and its tables are repeated, with times, steps and ids moved on, until there are so many
kernels. Every report then runs as a whole process: the first time what the rules say is worked out and stored in the
cache, so the first line, an overview, is apart from the others. These run twice: the first time a report materializes
the views that only it reads. Prints seconds, processor seconds and peak memory of both.
Each may keep its compiled Python, as an installed program does, whatever PYTHONDONTWRITEBYTECODE says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from traceview import store  # noqa: E402
from traceview.analysis import reports  # noqa: E402
from traceview.ingest.finish import TIMES  # noqa: E402
from traceview.tables import ID, TABLES, Table  # noqa: E402

ONCE = ("captures", "ranks", "devices", "summaries", "layer_times")
GROUP_ROWS = 122_880


def repeat(capture: Path, target: Path, kernels: int) -> int:
    """A capture of that many kernels out of a small one; returns how often it was repeated."""
    for rank in sorted(capture.glob("rank-*")):
        tables = {table: pq.read_table(rank / f"{table.name}.parquet") for table in TABLES if not table.optional}
        times = -(-kernels // max(next(len(rows) for table, rows in tables.items() if table.name == "kernels"), 1))
        steps = {
            "id": 1 + max(_span(rows, "id") for rows in tables.values()),
            "time": 1_000_000 + max(_span(rows, "start_ns") for rows in tables.values()),
            "step": 1 + max(_span(rows, "step") for rows in tables.values()),
        }
        (target / rank.name).mkdir(parents=True)
        for table, rows in tables.items():
            path = target / rank.name / f"{table.name}.parquet"
            if table.name in ONCE or not len(rows):
                shutil.copy(rank / f"{table.name}.parquet", path)
                continue
            # As captures are written: numbers as differences.
            numbers = [field.name for field in rows.schema if pa.types.is_integer(field.type)]
            texts = [name for name in rows.column_names if name not in numbers]
            encodings = dict.fromkeys(numbers, "DELTA_BINARY_PACKED")
            options: Any = {"compression": "zstd", "compression_level": 1, "column_encoding": encodings}
            with pq.ParquetWriter(path, rows.schema, use_dictionary=texts, **options) as writer:
                at_once = max(GROUP_ROWS // len(rows), 1)
                for first in range(0, times, at_once):
                    copies = range(first, min(first + at_once, times))
                    writer.write_table(pa.concat_tables(_moved(rows, table, copy, steps) for copy in copies))
    key = json.loads((capture / store.KEY_FILE).read_text())
    (target / store.KEY_FILE).write_text(json.dumps({**key, "sums": {}}))
    return times


def _span(rows: pa.Table, column: str) -> int:
    if column not in rows.column_names or not len(rows):
        return 0
    found = pc.min_max(rows[column]).as_py()
    return (found["max"] or 0) - (found["min"] or 0)


def _moved(rows: pa.Table, table: Table, copy: int, steps: dict[str, int]) -> pa.Table:
    for column in table.columns:
        kind = "id" if column.type == ID else "time" if column.name in TIMES else column.name
        if kind in steps:
            index = rows.schema.get_field_index(column.name)
            rows = rows.set_column(index, rows.schema.field(index), pc.add(rows[column.name], copy * steps[kind]))
    return rows


def timed(arguments: list[str]) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak megabytes of one command line. Raises when it fails."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "traceview", *arguments]
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**settings, "PYTHONPATH": str(ROOT)})
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed ({status})")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--kernels", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, help="leave the capture here, and use it if it is there already")
    parser.add_argument("--report", nargs="+", default=reports.names())
    parser.add_argument("--limit", type=float, help="fail when a report takes more processor seconds than this")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="traceview-reports-") as place:
        target = arguments.keep or Path(place) / "capture"
        if not store.is_capture(target):
            times = repeat(store.resolve(arguments.trace), target, arguments.kernels)
            print(f"{arguments.trace.name} x{times}: {_size(target) / 1e6:.0f} MB of tables")
        first = _line(timed(["report", str(target), "overview"]))
        print(f"{'first overview':15} {first} (materialized: {_size(target) / 1e6:.0f} MB)")
        slow = []
        for name in arguments.report:
            asked, again = timed(["report", str(target), name]), timed(["report", str(target), name])
            slow += [name] if arguments.limit and asked[1] > arguments.limit else []
            print(f"{name:15}", _line(asked), " again", _line(again), flush=True)
    print(f"(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    return 1 if slow else 0


def _line(found: tuple[float, float, float]) -> str:
    return "{:8.2f} s {:8.2f} processor s {:8.0f} MB".format(*found)


def _size(folder: Path) -> Any:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    sys.exit(main())
