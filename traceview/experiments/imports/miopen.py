"""Times of convolutions that MIOpen's find database holds: `gfx908_120.HIP.fdb.txt`, `*.ufdb.txt`, also as .bz2 or .gz.

A line is a problem, "=", and entries apart by ";": `ALGORITHM:SOLVER,MS,WORKSPACE,...` or, of newer versions,
`SOLVER:MS,WORKSPACE,ALGORITHM`. A problem is "64-56-56-3x3-128-56-56-16-1x1-1x1-1x1-0-NCHW-FP32-F": channels, height
and width of what is read, filter, the same of what is written, batch, padding, stride, dilation, bias, layout, type
and pass. In both gradients (B, W) the output's gradient stands first.

Invariant: what cannot be read is counted, never guessed; no line and no file takes more memory than a limit.
"""

from __future__ import annotations

import bz2
import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.experiments.algorithms.layers import Layer

MOST_ROWS, MOST_BYTES, MOST_LINE = 200_000, 1 << 30, 1 << 16
NAME = re.compile(r"\.u?fdb\.txt(\.bz2|\.gz)?$", re.IGNORECASE)
NO_TIMES = re.compile(r"^gfx\w+.*(\.(cd\.)?u?p?db(\.txt)?|\.kdb)(\.bz2|\.gz)?$", re.IGNORECASE)
"""Performance and kernel databases, which hold no times."""
_OPEN: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open}
_SIZE = r"(\d{1,7})"
_KEY = re.compile(
    rf"{_SIZE}-{_SIZE}-{_SIZE}-{_SIZE}x{_SIZE}-{_SIZE}-{_SIZE}-{_SIZE}-{_SIZE}"
    rf"-{_SIZE}x{_SIZE}-{_SIZE}x{_SIZE}-{_SIZE}x{_SIZE}-\d-(NCHW|NHWC)(?:-NCHW|-NHWC)*-([A-Z0-9]{{2,12}})-([FBW])"
    r"(?:_g(\d{1,7}))?",
    re.ASCII,
)
_ALGORITHM = re.compile(r"miopenConvolution(?:Fwd|BwdData|BwdWeights)Algo([A-Za-z0-9]{1,40})")
_DEVICE = re.compile(r"gfx(10\d\d|11\d\d|12\d\d|9[0-9][0-9a-f]|8\d\d)(?:_(\d{1,4})|([0-9a-f]{2,3}))?\.", re.IGNORECASE)
_MS = re.compile(r"\d{1,9}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?", re.ASCII)
DIRECTIONS = {"F": "fprop", "B": "dgrad", "W": "wgrad"}
DTYPES = {"FP32": "float32", "FP16": "float16", "BF16": "bfloat16", "FP64": "float64", "INT8": "int8"}
ALGORITHMS = {
    "GEMM": "explicit_gemm",
    "StaticCompiledGEMM": "explicit_gemm",
    "Direct": "direct",
    "FFT": "fft",
    "Winograd": "winograd",
    "ImplicitGEMM": "implicit_gemm",
}
MULTIPASS = re.compile(r"^Conv(?:Winograd3x3Multipass|MPBidirectWinograd)")
"""Winograd in several kernels, with a matrix product between them."""
DAMAGED, NO_SHAPE, NO_TIME, UNKNOWN = (
    "unparsable lines",
    "problems that are not a 2-D convolution",
    "entries without a time",
    "types that are not known",
)
MODEL = "MIOpen find database"
Row = dict[str, Any]


def is_database(file: Path) -> bool:
    """Whether the name is that of a find database."""
    return bool(NAME.search(file.name))


def read(file: Path, lost: Counter[str]) -> Iterator[Row]:
    """The rows of a find database; what is lost is counted. Raises `InputError` beyond limits and for damaged files."""
    device, n_rows = device_of(file.name), 0
    for line in _lines(file):
        key, equals, entries = line.rstrip("\r\n").partition("=")
        if not equals or len(line) >= MOST_LINE:
            lost[DAMAGED] += bool(line.strip())
            continue
        made = _problem(key)
        if isinstance(made, str):
            lost[made] += 1
            continue
        for entry in filter(None, entries.split(";")):
            found = _entry(entry)
            if found is None:
                lost[NO_TIME] += 1
                continue
            n_rows += 1
            if n_rows > MOST_ROWS:
                raise InputError(f"more than {MOST_ROWS:,} times; take the lines of some problems.")
            yield {"device": device, "backend": "MIOpen", **made, **found}


def device_of(name: str) -> str | None:
    """The GPU that a database is named after: its architecture and number of compute units."""
    found = _DEVICE.search(name)
    if not found:
        return None
    units = int(found[2]) if found[2] else int(found[3], 16) if found[3] else None
    return f"gfx{found[1].lower()}" + (f", {units} compute units" if units else "")


def _lines(file: Path) -> Iterator[str]:
    """The lines of the file, each and all of them within limits."""
    n_bytes, is_rest = 0, False
    try:
        with _OPEN.get(file.suffix.lower(), open)(file, "rt", encoding="utf-8", errors="replace") as stream:
            while line := stream.readline(MOST_LINE):
                n_bytes += len(line)
                if n_bytes > MOST_BYTES:
                    raise InputError(f"more than {MOST_BYTES:,} bytes; take the lines of some problems.")
                # The rest of a line that is too long is passed over.
                if not is_rest:
                    yield line
                is_rest = len(line) == MOST_LINE and not line.endswith("\n")
    except (OSError, EOFError) as error:
        raise InputError(f"damaged, or not compressed as its name says ({error}).") from error


def _problem(key: str) -> Row | str:
    """Layer, batch, pass and type of a problem, or why there are none."""
    match = _KEY.fullmatch(key.strip())
    if not match:
        return NO_SHAPE if re.match(r"\d+-\d+", key) else DAMAGED
    numbers = [int(text) for text in match.groups()[:15]]
    layout, kind, way, groups = match.groups()[15:]
    if kind not in DTYPES:
        return UNKNOWN
    first, (rows, columns), second = numbers[0:3], numbers[3:5], numbers[5:8]
    batch, steps = numbers[8], numbers[9:15]
    (channels, height, width), (filters, high, wide) = (first, second) if way == "F" else (second, first)
    sizes = (channels, height, width, filters, rows, columns)
    names = ("pad_h", "pad_w", "stride_h", "stride_w", "dilation_h", "dilation_w")
    placed = dict(zip(names, steps, strict=True))
    name = f"{channels}x{height}x{width} k{filters} {rows}x{columns} s{placed['stride_h']}"
    try:
        layer = Layer(name, *sizes, groups=int(groups or 1), model=MODEL, dtype=DTYPES[kind], **placed)
    except UsageError:
        return NO_SHAPE
    if (layer.out_height, layer.out_width) != (high, wide) or not 0 < batch <= 1 << 20:
        return NO_SHAPE
    told = {"direction": DIRECTIONS[way], "batch": batch, "flop": layer.flop(batch)}
    return {**layer.facts(), **told, "layout_in": layout.lower(), "layout_out": layout.lower()}


def _entry(text: str) -> Row | None:
    """Return the time of one implementation; None where it has none."""
    name, _, rest = text.partition(":")
    fields = rest.split(",")
    if _MS.fullmatch(fields[0]):
        solver, told = name, ["", *fields]
    else:
        solver, told = fields[0].strip(), [name, *fields[1:]]
    algorithms = [match[1] for match in map(_ALGORITHM.fullmatch, told) if match]
    if len(told) < 3 or not _MS.fullmatch(told[1]) or not float(told[1]) or not re.fullmatch(r"\d{1,18}", told[2]):
        return None
    algorithm = next((ALGORITHMS[word] for word in algorithms if word in ALGORITHMS), None)
    if algorithm == "winograd" and MULTIPASS.match(solver):
        algorithm = "winograd_nonfused"
    return {
        "implementation": solver[:200] or None,
        "algorithm": algorithm,
        "wall_ns": round(float(told[1]) * 1e6),
        "workspace_bytes": int(told[2]),
    }
