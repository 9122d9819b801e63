"""A job of many ranks, built from a few real ones: clocks shifted, some ranks made slow by a known amount.

    python benchmarks/fleet.py build FOLDER TRACES --ranks 512      traces of 512 ranks out of those in TRACES
    python benchmarks/fleet.py measure FOLDER --jobs 2              processor seconds and memory of every verb
    python benchmarks/fleet.py dask FOLDER                          two Dask workers against one, and no Dask
    python benchmarks/fleet.py all FOLDER --jobs 2                  all of that, and how it grows from 64 ranks on

Kernels of the stragglers that are no collectives take `SLOWER` times as long; NAME-stragglers.json names them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STRAGGLERS = (3, 41, 300)
SLOWER = 1.5
FEW = 64
"""Ranks from which growth is measured."""
SHIFT_NS = 1_000_003
"""By which the clock of each rank is ahead of that of the one before it."""


def build(folder: Path, traces: Path, n_ranks: int) -> None:
    """Write the traces of a job."""
    folder.mkdir(parents=True)
    sources = [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(traces.glob("*.json.gz"))]
    for rank in range(n_ranks):
        trace = _rank(sources[rank % len(sources)], rank, n_ranks)
        text = json.dumps(trace, separators=(",", ": ")).encode()
        (folder / f"rank-{rank:05d}.json.gz").write_bytes(gzip.compress(text, 6))
    known = {"ranks": [rank for rank in STRAGGLERS if rank < n_ranks], "slower": SLOWER, "shift_ns": SHIFT_NS}
    (folder.parent / f"{folder.name}-stragglers.json").write_text(json.dumps(known))


def _rank(source: dict[str, Any], rank: int, n_ranks: int) -> dict[str, Any]:
    events = source["traceEvents"]
    if rank in STRAGGLERS:
        events = [_slowed(event) for event in events]
    job = {**source.get("distributedInfo", {}), "rank": rank, "world_size": n_ranks}
    base = source.get("baseTimeNanoseconds", 0)
    return {**source, "baseTimeNanoseconds": base + rank * SHIFT_NS, "distributedInfo": job, "traceEvents": events}


def _slowed(event: dict[str, Any]) -> dict[str, Any]:
    is_compute = str(event.get("cat", "")).lower() == "kernel" and "nccl" not in str(event.get("name", "")).lower()
    return {**event, "dur": event["dur"] * SLOWER} if is_compute and "dur" in event else event


def run(*words: str) -> dict[str, float]:
    """Run traceview and say what it and its processes used. The memory is that of the largest process."""
    began = time.monotonic()
    code = "import sys; from traceview.cli import main; sys.exit(main())"
    # A process of its own, so that the largest one is of this run alone.
    script = (
        "import json, resource, subprocess, sys; "
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))"
    )
    asked = [sys.executable, "-c", script, sys.executable, "-c", code, *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    status, cpu, megabytes = json.loads(done.stdout)
    if status:
        raise SystemExit(f"traceview {' '.join(words)} failed: {done.stderr}")
    return {"cpu_s": cpu, "wall_s": time.monotonic() - began, "largest_mb": megabytes}


def measure(folder: Path, jobs: int) -> dict[str, float]:
    """Print what each verb uses on a job, the first report, then what is kept; returns their processor seconds."""
    capture = folder.with_name(f"{folder.name}-capture")
    os.environ["XDG_CACHE_HOME"] = str(folder.with_name(f"{folder.name}-cache"))
    for place in (capture, Path(os.environ["XDG_CACHE_HOME"])):
        shutil.rmtree(place, ignore_errors=True)
    n_ranks = len(list(folder.glob("rank-*.json.gz")))
    verbs = {
        "convert": ("convert", str(folder), "-o", str(capture), "--jobs", str(jobs)),
        "first report": ("report", str(capture), "--jobs", str(jobs)),
        "report": ("report", str(capture)),
        "report communication": ("report", str(capture), "communication"),
        "advise": ("advise", str(capture)),
        "advise again": ("advise", str(capture)),
    }
    print(f"{n_ranks} ranks, --jobs {jobs}, {os.cpu_count()} cores")
    seconds = {}
    for name, words in verbs.items():
        used = run(*words)
        seconds[name] = used["cpu_s"]
        print(f"{name:22} {used['cpu_s']:8.2f} processor s {used['wall_s']:8.2f} s {used['largest_mb']:8.0f} MB")
    files = [path for path in capture.rglob("*") if path.is_file()]
    print(f"{'on disk':22} {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
    return seconds


def against_dask(folder: Path) -> None:
    """Print how long two Dask workers take, one, and one process without Dask."""
    taken = {}
    kinds: dict[str, tuple[str, ...]] = {"one process": ("--jobs", "1")}
    kinds |= {f"{n} Dask": ("--dask", "local", "--jobs", str(n)) for n in (1, 2)}
    for name, more in kinds.items():
        capture = folder.with_name(f"{folder.name}-{name.replace(' ', '-')}")
        shutil.rmtree(capture, ignore_errors=True)
        taken[name] = run("convert", str(folder), "-o", str(capture), *more)
        print(f"{name:22} {taken[name]['cpu_s']:8.2f} processor s {taken[name]['wall_s']:8.2f} s", flush=True)
    for name in ("1 Dask", "one process"):
        times, less = (taken[name][of] / taken["2 Dask"][of] for of in ("wall_s", "cpu_s"))
        print(f"2 Dask against {name}: {times:.2f} times as fast, {1 / less:.2f} times the processor s")


def grow(folder: Path, jobs: int) -> None:
    """Measure the first `FEW` ranks, then all, and print what a rank takes of the one against the other."""
    few = folder.with_name(f"{folder.name}-few")
    shutil.rmtree(few, ignore_errors=True)
    few.mkdir()
    traces = sorted(folder.glob("rank-*.json.gz"))
    for path in traces[:FEW]:
        os.link(path, few / path.name)
    seconds = [measure(place, jobs) for place in (few, folder)]
    for verb in ("convert", "first report"):
        ratio = seconds[1][verb] / seconds[0][verb] / (len(traces) / FEW)
        print(f"{verb}: from {FEW} to {len(traces)} ranks {ratio:.2f} times linear")
    against_dask(few)


def main() -> None:
    """Read the arguments and do it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "measure", "dask", "all"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("traces", type=Path, nargs="?")
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.what == "build":
        build(args.folder, args.traces, args.ranks)
    elif args.what == "measure":
        measure(args.folder, args.jobs)
    elif args.what == "all":
        grow(args.folder, args.jobs)
    else:
        against_dask(args.folder)


if __name__ == "__main__":
    main()
