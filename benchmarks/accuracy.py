"""Compare facts that traceview and other tools give of traces with counts by plain code: the table of docs/accuracy.md.

    python benchmarks/accuracy.py [--shared FOLDER] [--fetched FOLDER] [--others PYTHON] [--only WORD] [--write]

The rows are those of the page: trace and kind stand there, the rest is worked out; `--write` puts it there. Truth is
counted with the standard library and none of traceview's code. `--shared` holds the public traces of the tests,
`--fetched` others as OWNER/NAME/PATH, `--others` is a Python with HTA, TraceLens and nsys-ai; without, cells stay.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import traceview  # noqa: E402

PAGE = ROOT / "docs/accuracy.md"
MEASURES = ("device rows", "busy [ms]", "recording [ms]", "steps, median [ms]", "to device [MB]", "to host [MB]")
TOOLS = ("HTA", "TraceLens", "nsys-ai")
Facts = dict[str, tuple[float, ...]]
Row = tuple[str, Any, float, float, float]  # kind (kernel, fill, HtoD ..., step), device, start and end in ns, bytes


def read(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def kineto(path: Path) -> Iterator[Row]:
    found = json.loads(read(path))
    events = found if isinstance(found, list) else found["traceEvents"]
    spans = [e for e in events if e.get("ph") == "X" and "dur" in e]
    on_device = any(str(e.get("cat")).lower() in ("kernel", "gpu_memcpy", "mtia_ccp_events") for e in spans)
    for e in spans:
        args, name, cat = e.get("args") or {}, str(e["name"]), str(e.get("cat")).lower()
        kind, device, way = "", args.get("device", e["pid"]), re.search(r"([HD])\w*[tT]o([HD])", name)
        if name.startswith("ProfilerStep#") and cat in ("cpu_op", "operator", "user_annotation"):
            kind = "step"
        elif cat in ("gpu_memcpy", "memcpy", "gpu_memset", "memset"):
            kind = f"{way[1]}to{way[2]}" if way and "memcpy" in cat else "fill"
        elif cat == "mtia_ccp_events" and name in ("event_wait", "event_record"):
            continue
        elif cat == "mtia_ccp_events" and name == "dma_request":
            kind = {"HOST_TO_DEVICE": "HtoD", "DEVICE_TO_HOST": "DtoH"}[args["direction"]]
        elif cat in ("kernel", "mtia_ccp_events") or (cat == "cpu_op" and not on_device):
            kind, device = "kernel", device if on_device else "cpu"
        if kind:
            start, size = round(float(e["ts"]) * 1000), args.get("bytes", args.get("Bytes", args.get("size")))
            yield kind, device, start, start + round(float(e["dur"]) * 1000), float(size or 0)


def nsight(path: Path) -> Iterator[Row]:
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as plain:
        Path(plain.name).write_bytes(read(path))
        db = sqlite3.connect(plain.name)
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        for kind in ("KERNEL", "MEMCPY", "MEMSET"):
            if (table := f"CUPTI_ACTIVITY_KIND_{kind}") in tables:
                more = {"KERNEL": "0, 0", "MEMCPY": "copyKind, bytes", "MEMSET": "0, 0"}[kind]
                for device, start, end, way, size in db.execute(f'SELECT deviceId, start, "end", {more} FROM {table}'):
                    told = {1: "HtoD", 2: "DtoH"}.get(way, "fill")
                    yield "kernel" if kind == "KERNEL" else told, device, start, end, size
        db.close()


def fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of one protobuf message."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        if size == 0:
            yield key >> 3, number()
        else:
            size = number() if size is None else size
            yield key >> 3, data[at : at + size]
            at += size


def xplane(path: Path) -> Iterator[Row]:
    def text(message: list[tuple[int, Any]]) -> str:
        return next((bytes(value).decode() for key, value in message if key == 2), "")

    steps: dict[str, list[tuple[float, float]]] = {}
    for plane in (list(fields(value)) for key, value in fields(memoryview(read(path))) if key == 1):
        known = [dict(fields(value)) for key, value in plane if key == 4]
        names = {entry.get(1, 0): text(list(fields(entry[2]))) for entry in known}
        shown = "Stream #" if text(plane).startswith("/device:GPU") else "XLA Ops"
        for line in (list(fields(value)) for key, value in plane if key == 3 and text(plane).startswith("/device:")):
            zero = next((value for key, value in line if key == 3), 0)
            for message in (value for key, value in line if key == 4):
                event, size = dict(fields(message)), re.search(rb"size:(\d+)", bytes(message))
                name, start = names[event.get(1, 0)], zero + event.get(2, 0) / 1000
                end = start + event.get(3, 0) / 1000
                if text(line) == "Steps":
                    steps.setdefault(name, []).append((start, end))
                if not text(line).startswith(shown):
                    continue
                way = re.search("([HD])2([HD])", name)
                kind = f"{way[1]}to{way[2]}" if way else "fill" if re.search("(?i)memset|memcpy", name) else "kernel"
                if re.match("%?copy-(start|done)", name) and "S(5)" in name:
                    # The layout of an instruction's result stands first; S(5) in it is the host's memory.
                    layout = re.search(r"= [^{]*{([^}]*)}", name)
                    kind = "DtoH" if layout and "S(5)" in layout[1] else "HtoD"
                yield kind, text(plane), start, end, float(size[1] if size else 0)
    for spans in steps.values():
        # Devices take part in a step: it lasts from the first to the last of them.
        yield "step", None, min(start for start, _ in spans), max(end for _, end in spans), 0


def union(spans: Iterable[tuple[float, float]]) -> float:
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total, until = total + max(end - max(start, until), 0), max(until, end)
    return total


def files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json.gz")) if path.is_dir() else [path]


def truth(path: Path) -> Facts:
    rows: list[list[Row]] = []
    for file in files(path):
        found = list((nsight if ".sqlite" in file.name else xplane if ".xplane" in file.name else kineto)(file))
        # Chips of a TPU are ranks.
        chips = sorted({row[1] for row in found if "TPU" in str(row[1])})
        rows += [[row for row in found if row[1] == chip] for chip in chips] or [found]
    busy = recording = 0.0
    for rank in rows:
        work = [row for row in rank if row[0] != "step"]
        busy += sum(union(row[2:4] for row in work if row[1] == device) for device in {row[1] for row in work})
        recording = max(recording, max((row[3] for row in work), default=0) - min((row[2] for row in work), default=0))
    every = [row for rank in rows for row in rank]
    steps = [row[3] - row[2] for row in every if row[0] == "step"]
    copies = {way: [row[4] for row in every if row[0] == way] for way in ("HtoD", "DtoH")}
    counted = [
        (sum(row[0] == "kernel" for row in every),),
        (busy / 1e6,),
        (recording / 1e6,),
        (len(steps), statistics.median(steps) / 1e6 if steps else 0),
        *((len(sizes), sum(sizes) / 1e6) for sizes in copies.values()),
    ]
    return dict(zip(MEASURES, counted, strict=True))


def said(path: Path) -> Facts:
    """The answer of traceview to the same questions."""
    with traceview.open(path) as trace:

        def ask(query: str) -> tuple[float, ...]:
            return tuple(float(value or 0) for value in trace.sql(query).fetchall()[0])

        copies = "SELECT count(*), sum(size_bytes) / 1e6 FROM memcpys WHERE direction = "
        return {
            "device rows": ask("SELECT if(sum(kernels) > 0, sum(kernels), sum(ops)) FROM recorded"),
            "busy [ms]": ask("SELECT sum(alone_ns) / 1e6 FROM busy"),
            "recording [ms]": ask(
                "SELECT max(ns) / 1e6 FROM (SELECT max(end_ns) - min(start_ns) ns FROM performed GROUP BY rank)"
            ),
            "steps, median [ms]": ask("SELECT count(*), median(dur_ns) / 1e6 FROM steps WHERE found_by IS NULL"),
            "to device [MB]": ask(copies + "'HtoD'"),
            "to host [MB]": ask(copies + "'DtoH'"),
        }


ASK = {
    "HTA": """
from hta.trace_analysis import TraceAnalysis
t = TraceAnalysis(trace_files=dict(enumerate(paths)), include_last_profiler_step=True)
found = t.get_temporal_breakdown(visualize=False)
busy, recording = (found["kernel_time(us)"] - found["idle_time(us)"]).sum() / 1e3, found["kernel_time(us)"].max() / 1e3
""",
    "TraceLens": """
from TraceLens import TreePerfAnalyzer
found = [TreePerfAnalyzer.from_file(path).get_df_gpu_timeline().set_index("type")["time ms"] for path in paths]
busy, recording = sum(f["busy_time"] for f in found), max(f["total_time"] for f in found)
""",
    "nsys-ai": """
from nsys_ai.profile import Profile
from nsys_ai.overlap import overlap_analysis
with Profile(paths[0]) as p:
    found = [overlap_analysis(p, device) for device in p.meta.devices]
busy, recording = sum(f["total_ms"] - f["idle_ms"] for f in found), max(f["total_ms"] for f in found)
""",
}


def asked(tool: str, path: Path, python: str) -> Facts | str:
    """Busy time and length of the recording, the two numbers that all of them give, or why there are none."""
    if tool == "TraceLens" and ".xplane" in path.name:
        return "not asked (needs xprof)"
    if (tool == "nsys-ai") != (".sqlite" in path.name) or ".xplane" in path.name:
        return "not its format"
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(file.resolve()) for file in files(path)]
        if tool == "nsys-ai":
            paths = [f"{folder}/trace.sqlite"]
            Path(paths[0]).write_bytes(read(path))
        code = (
            f"import json\npaths = {paths!r}\n{ASK[tool]}\nprint('\\n' + json.dumps([float(busy), float(recording)]))"
        )
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=900, cwd=folder)
    if found.returncode:
        return "fails: " + found.stderr.strip().splitlines()[-1].partition(":")[0]
    return {
        name: (value,) for name, value in zip(MEASURES[1:3], json.loads(found.stdout.splitlines()[-1]), strict=True)
    }


def shown(name: str, values: tuple[float, ...]) -> str:
    if len(values) == 1:
        return f"{values[0]:,.0f}" if name == "device rows" else f"{values[0]:,.3f}"
    return f"{values[0]:,.0f}: {values[1]:,.3f}" if values[0] else "-"


def cells(text: str) -> list[list[str]]:
    """The rows of the page's first table, of traces alone."""
    lines = text.partition("\n## ")[0].splitlines()
    return [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| `")]


def verdict(found: Facts | str, true: Facts) -> str:
    """How many of a tool's numbers are true to a thousandth, and those that are not."""
    if isinstance(found, str):
        return found
    wrong = [
        k
        for k, v in found.items()
        if any(abs(a - b) > max(abs(b) / 1000, 0.0015) for a, b in zip(v, true[k], strict=True))
    ]
    told = "; ".join(f"{re.sub(r' .*|,.*', '', k)} {shown(k, found[k])}" for k in wrong)
    return f"{len(found) - len(wrong)} of {len(found)}" + (f": {told}" if told else "")


def row(before: list[str], path: Path, python: str | None = None) -> list[str]:
    """The cells of a row of the page, worked out anew."""
    true = truth(path)
    others = [verdict(asked(tool, path, python), true) for tool in TOOLS] if python else before[-len(TOOLS) :]
    return [*before[:2], *(shown(name, true[name]) for name in MEASURES), verdict(said(path), true), *others]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared/traces")
    parser.add_argument("--fetched", type=Path, default=Path("fetched"))
    parser.add_argument("--others", metavar="PYTHON", help="a Python with HTA, TraceLens and nsys-ai")
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose trace has this in its name")
    parser.add_argument("--write", action="store_true", help="into docs/accuracy.md")
    args = parser.parse_args()
    for before in cells(PAGE.read_text(encoding="utf-8")):
        name = before[0].strip("`")
        path = next((p for p in (ROOT / name, args.shared / name, args.fetched / name) if p.exists()), None)
        if path is None or args.only not in name:
            continue
        line = f"| {' | '.join(row(before, path, args.others))} |"
        print(line, flush=True)
        if args.write:
            text = PAGE.read_text(encoding="utf-8")
            old = next(row for row in text.splitlines() if row.startswith(f"| `{name}`"))
            PAGE.write_text(text.replace(old, line), encoding="utf-8")


if __name__ == "__main__":
    main()
