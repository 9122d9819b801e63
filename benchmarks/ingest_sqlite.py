"""How long a large nsys export takes to convert, against only reading the same columns through the driver.

    python benchmarks/ingest_sqlite.py trace.sqlite [--megabytes 200] [--runs 3]

The export is made larger by repeating its rows later in time, with new correlation numbers.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from traceview import store
from traceview.foreigntables import open_tables
from traceview.paths import content
from traceview.sql import load_folder

TIMED = {
    "CUPTI_ACTIVITY_KIND_KERNEL": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_MEMSET": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("start", "end"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ("start", "end"),
    "NVTX_EVENTS": ("start", "end"),
    "OSRT_API": ("start", "end"),
}


def enlarge(source: Path, target: Path, megabytes: int) -> int:
    """Repeat every timed row until the file has that size; returns how many rows it then has."""
    shutil.copy(source, target)
    with sqlite3.connect(target) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        tables = [name for name in TIMED if name in present]
        spans = [connection.execute(f"SELECT min(start), max(end), count(*) FROM {name}").fetchone() for name in tables]
        length = max(last for _, last, n in spans if n) - min(first for first, _, n in spans if n) + 1_000_000
        rows = sum(n for _, _, n in spans)
        before = source.stat().st_size
        copies = 1
        for name in tables:
            connection.execute(f"CREATE TEMP TABLE original_{name} AS SELECT * FROM {name}")
        while target.stat().st_size < megabytes * 1_000_000:
            for name in tables:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
                shifts = {"start": copies * length, "end": copies * length, "correlationId": copies << 24}
                values = [f'"{column}" + {shifts[column]}' for column in columns if column in shifts]
                same = [f'"{column}"' for column in columns if column not in shifts]
                into = ", ".join([f'"{column}"' for column in columns if column in shifts] + same)
                query = f"SELECT {', '.join(values + same)} FROM original_{name}"
                connection.execute(f"INSERT INTO {name} ({into}) {query}")
            connection.commit()
            copies += 1
    print(f"{target.stat().st_size / 1e6:.0f} MB from {before / 1e6:.1f} MB: {copies} copies, {rows * copies:,} rows")
    return int(rows * copies)


def only_read(path: Path) -> None:
    """Every column that the queries want of the export, in batches that are thrown away."""
    queries = load_folder(content("queries") / "ingest" / "nsys").values()
    with open_tables(path) as tables:
        for query in queries:
            for table in query.extra.get("tables", ()) if "source" in query.extra else ():
                if table in tables.columns:
                    for _ in tables.rows(table, query.extra["source"]):
                        pass


def timed(work: Callable[[], object], runs: int) -> list[float]:
    """Seconds of each run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = folder / "large.sqlite"
        enlarge(options.source, large, options.megabytes)
        targets = iter(folder / f"capture{number}" for number in range(options.runs))
        read = timed(lambda: only_read(large), options.runs)
        convert = timed(lambda: store.convert([large], next(targets)), options.runs)
        for label, seconds in (("only reading", read), ("converting", convert)):
            print(f"{label}: {', '.join(f'{second:.2f} s' for second in seconds)}")
        print(f"ratio of the medians: {statistics.median(convert) / statistics.median(read):.2f}")
        print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
