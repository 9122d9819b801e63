"""How fast a trace becomes a capture, against what the machine allows and against the naive reader.

    python benchmarks/ingest.py TRACE.json[.gz] [--scale 1 18] [--rounds 3] [--hta] [--peer NAME=COMMAND]
    python benchmarks/ingest.py TRACE.sqlite[.gz] --scale 100
    python benchmarks/ingest.py TRACE.xplane.pb[.gz] --scale 1 20 400

The trace is repeated (`scaled.py`). Every contender is a whole process, in turns with the others; the table shows the
best time, processor time, peak memory and the ratios to the first contender. Every contender may keep its compiled
Python, whatever PYTHONDONTWRITEBYTECODE says: an installed program has it, and the first of several rounds writes it.
Of a Kineto trace `floor` is DuckDB's own
`read_json` of five arguments to Parquet, on one thread; of an nsys export it only reads the columns that conversion
asks for, through the driver; an XPlane has none. `pandas` is json.load and a DataFrame; `--hta` adds Holistic Trace
Analysis from the package index. A peer is any command with {} for the trace. Absolute times mean little; compare within
one run, and where other programs load the machine compare processor times.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from scaled import scaled

FLOOR = """
import duckdb, sys
connection = duckdb.connect(config={"threads": 1})
connection.execute('''COPY (SELECT * FROM read_json($1, format = 'array', maximum_object_size = 1000000000, columns = {
    ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR', ts: 'DOUBLE', dur: 'DOUBLE',
    args: 'STRUCT("External id" BIGINT, correlation BIGINT, stream BIGINT, device BIGINT, bytes BIGINT)'}))
    TO $2 (FORMAT parquet)''', [sys.argv[1], sys.argv[2]])
"""
NAIVE = """
import gzip, json, pandas, sys
with (gzip.open if sys.argv[1].endswith("gz") else open)(sys.argv[1]) as file:
    events = json.load(file)
pandas.DataFrame(events if isinstance(events, list) else events["traceEvents"])
"""
READ_SQLITE = """
import sys
from pathlib import Path
from traceview.decode.databases import open_tables
from traceview.paths import content
from traceview.sql import load_folder

with open_tables(Path(sys.argv[1])) as tables:
    for query in load_folder(content("queries") / "ingest" / "nsys").values():
        for table in query.extra.get("tables", ()) if "source" in query.extra else ():
            if table in tables.columns:
                for _ in tables.rows(table, query.extra["source"]):
                    pass
"""
HTA = "HolisticTraceAnalysis==0.5.0"
LOAD_HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
"""
ROOT = Path(__file__).resolve().parent.parent


def run(command: list[str]) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak megabytes of a whole process. Raises when it fails."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=settings)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{shlex.join(command)[:300]} failed ({status})")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def hta() -> str:
    """A Python that has Holistic Trace Analysis, in an environment of its own that is kept in the cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "traceview-benchmarks"
    python = cache / HTA / "bin" / "python"
    if not python.exists():
        venv.create(cache / HTA, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", HTA], check=True)
    return str(python)


def contenders(trace: Path, array: Path | None, folder: Path, args: argparse.Namespace) -> dict[str, list[str]]:
    """Name -> command. What they write is removed before each run by the caller."""
    python = sys.executable
    found = {
        "traceview": [python, "-m", "traceview", "convert", str(trace), "-o", str(folder / "capture")],
        "first report": [python, "-m", "traceview", "report", str(trace)],
        "second report": [python, "-m", "traceview", "report", str(trace)],
    }
    if trace.suffix == ".sqlite":
        found = {"floor": [python, "-c", READ_SQLITE, str(trace)]} | found
    if array:
        floor = {"floor": [python, "-c", FLOOR, str(array), str(folder / "floor.parquet")]}
        found = floor | found | {"pandas": [python, "-c", NAIVE, str(trace)]}
    if args.hta:
        found["hta"] = [hta(), "-c", LOAD_HTA, str(trace)]
    for peer in args.peer:
        name, _, command = peer.partition("=")
        found[name] = [word.replace("{}", str(trace)) for word in shlex.split(command)]
    return {name: command for name, command in found.items() if name not in args.without}


def measure(trace: Path, times: int, folder: Path, args: argparse.Namespace) -> None:
    """Run every contender on the trace so many times over, in turns, and print what each took at best."""
    # In a process of its own: a child's peak memory starts at what its parent held.
    with ProcessPoolExecutor(1) as pool:
        whole, array, size = pool.submit(scaled, trace, times, folder).result()
    best: dict[str, tuple[float, float, float]] = {}
    for _ in range(args.rounds):
        for label, command in contenders(whole, array, folder, args).items():
            shutil.rmtree(folder / "capture", ignore_errors=True)
            if label == "first report":
                shutil.rmtree(f"{whole}.traceview", ignore_errors=True)
            taken = run(command)
            known = best.get(label, (float("inf"), float("inf"), 0.0))
            best[label] = min(known[0], taken[0]), min(known[1], taken[1]), max(known[2], taken[2])
    print(f"\n{trace.name} x{times}: {size}, a file of {whole.stat().st_size / 1e6:.1f} MB\n")
    print("| | seconds | processor seconds | peak MB | of the first one's seconds | of its processor seconds |")
    print("|---|---:|---:|---:|---:|---:|")
    first = next(iter(best))
    for label, (seconds, processor, megabytes) in best.items():
        ratios = (f"{mine / floor:.2f}" for mine, floor in zip((seconds, processor), best[first], strict=False))
        print(f"| {label} | {seconds:.2f} | {processor:.2f} | {megabytes:.0f} | {' | '.join(ratios)} |")
    print(f"\n(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=Path("samples/kineto/torch-2.13.0-alexnet-cpu.json.gz"))
    parser.add_argument("--scale", type=int, nargs="+", default=[1, 18])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hta", action="store_true", help="also Holistic Trace Analysis, installed from the index")
    parser.add_argument("--peer", action="append", default=[], help="NAME=COMMAND with {} for the trace")
    parser.add_argument("--without", action="append", default=[], help="leave out this contender")
    args = parser.parse_args()
    for times in args.scale:
        with tempfile.TemporaryDirectory() as name:
            measure(args.trace, times, Path(name), args)


if __name__ == "__main__":
    main()
