"""How fast a Kineto trace becomes a capture, against what the machine allows and against the naive reader.

    python benchmarks/ingest.py TRACE.json[.gz] [--scale 1 18] [--rounds 3] [--peer NAME=COMMAND ...]

The trace is repeated with shifted times and ids. Every contender is a whole process, interleaved with the others; the
table shows the best time, peak memory and the ratio to the floor. `floor` is DuckDB's own `read_json` of five arguments
to Parquet, on one thread; `pandas` is json.load and a DataFrame. A peer is any command with {} for the trace, for
example: --peer hta="/path/to/venv/bin/python load_with_hta.py {}". Absolute times mean little; compare within one run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
ID_STEP = 10_000_000


def scaled(trace: Path, times: int, folder: Path) -> tuple[Path, Path, int]:
    """The trace `times` over: as an object, and as the bare array that the floor can read; and the events."""
    with (gzip.open if trace.suffix == ".gz" else open)(trace) as file:
        content = json.load(file)
    events = content if isinstance(content, list) else content.pop("traceEvents")
    starts = [float(event["ts"]) for event in events if "ts" in event]
    span = max(starts) - min(starts) + 1_000_000
    paths = folder / f"x{times}.json.gz", folder / f"x{times}.array.json.gz"
    head = {} if isinstance(content, list) else content
    with gzip.open(paths[0], "wt", compresslevel=3) as whole, gzip.open(paths[1], "wt", compresslevel=3) as array:
        whole.write(json.dumps(head)[:-1] + (", " if head else "") + '"traceEvents": [\n')
        array.write("[\n")
        for copy in range(times):
            for number, event in enumerate(events):
                text = ("" if copy == number == 0 else ",\n") + json.dumps(shifted(event, copy, span))
                whole.write(text)
                array.write(text)
        whole.write("\n]}\n")
        array.write("\n]\n")
    return *paths, len(events) * times


def shifted(event: dict, copy: int, span: float) -> dict:
    """One event of one repetition: times, flows, correlation and sequence numbers moved on."""
    moved = dict(event)
    if copy and "ts" in moved:
        moved["ts"] = type(event["ts"])(float(event["ts"]) + copy * span)
    if copy and isinstance(moved.get("id"), int):
        moved["id"] += copy * ID_STEP
    if copy and moved.get("args"):
        moved["args"] = {
            key: value + copy * ID_STEP
            if key in ("correlation", "External id", "Sequence number") and isinstance(value, int)
            else value
            for key, value in moved["args"].items()
        }
    return moved


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of a whole process. Raises when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{shlex.join(command)} failed ({status})")
    return seconds, usage.ru_maxrss / 1000


def contenders(trace: Path, array: Path, folder: Path, peers: list[str]) -> dict[str, list[str]]:
    """Name -> command. traceview's output is removed before each run by the caller."""
    python = sys.executable
    found = {
        "floor": [python, "-c", FLOOR, str(array), str(folder / "floor.parquet")],
        "traceview": [python, "-m", "traceview", "convert", str(trace), "-o", str(folder / "capture")],
        "pandas": [python, "-c", NAIVE, str(trace)],
    }
    for peer in peers:
        name, _, command = peer.partition("=")
        found[name] = [word.replace("{}", str(trace)) for word in shlex.split(command)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="?", default=Path("samples/kineto/torch-2.13.0-alexnet-cpu.json.gz"))
    parser.add_argument("--scale", type=int, nargs="+", default=[1, 18])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="append", default=[], help="NAME=COMMAND with {} for the trace")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for times in args.scale:
            trace, array, events = scaled(args.trace, times, folder)
            best: dict[str, tuple[float, float]] = {}
            for _ in range(args.rounds):
                for label, command in contenders(trace, array, folder, args.peer).items():
                    shutil.rmtree(folder / "capture", ignore_errors=True)
                    seconds, megabytes = run(command)
                    known = best.get(label, (float("inf"), 0.0))
                    best[label] = min(known[0], seconds), max(known[1], megabytes)
            print(f"\n{args.trace.name} x{times}: {events:,} events, {trace.stat().st_size / 1e6:.1f} MB gzipped")
            for label, (seconds, megabytes) in best.items():
                ratio = seconds / best["floor"][0]
                print(f"{label:12} {seconds:8.2f} s  {megabytes:8.0f} MB  {ratio:6.2f} x floor")
            print(f"(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")


if __name__ == "__main__":
    main()
