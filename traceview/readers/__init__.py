"""Every trace format, in the order in which they are asked whether a file is theirs.

Invariant: a format is recognised by content, never by name, and by exactly one reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from traceview.decode.files import Peek
from traceview.errors import InputError

_NAMES = (
    *("kineto", "nsys", "xplane", "perfetto", "tf_timeline", "tf_trace", "mxnet", "onnxruntime", "operators", "onednn"),
    *("nvtx", "nsys_rep", "nvprof_db", "rocm_db", "rocprof", "rocprofv3", "nvprof_text", "nsys_csv", "caffe_time"),
    *("cuda_snapshot", "theano_profile", "cntk_timing", "opencv_dnn", "convnet_benchmarks", "experiment"),
    *("autograd", "chrome"),
)
READERS: tuple[ModuleType, ...]
"""All of them, as modules; loaded when first asked for."""


ZIP_MAGIC, TAR_MAGIC = b"PK\x03\x04", b"ustar"
"""Archives are never unpacked: what their members are named, and how much they hold, is their writer's word."""


def __getattr__(name: str) -> tuple[ModuleType, ...]:
    if name == "READERS":
        return tuple(_loaded())
    raise AttributeError(name)


def _loaded() -> Iterator[ModuleType]:
    # One by one: to load all takes longer than to read a small trace, and the first is the most frequent.
    return (import_module(f"{__name__}.{name}") for name in _NAMES)


def detect(peek: Peek) -> ModuleType:
    """The reader whose `sniff` accepts the file. Raises `InputError` when none does."""
    # Before the readers: marks of a member of an archive would be found in it, and the other members denied.
    if peek.head.startswith(ZIP_MAGIC) or peek.head[257:262] == TAR_MAGIC:
        raise InputError(f"{peek.path} is an archive: unpack it into a folder of its own and name that folder.")
    for reader in _loaded():
        if reader.sniff(peek):
            return reader
    raise InputError(f"{peek.path} {_instead(peek)}")


def _instead(peek: Peek) -> str:
    """Say why a file is not a trace, where that shows what to do."""
    if re.search(rb'^\s*\{.{0,4096}"traceEvents"\s*:\s*\[\s*\]', peek.head, re.DOTALL):
        return "holds no events: its list of events is empty."
    if peek.head and not peek.head.strip(b"\0"):
        return "holds nothing but zeros where a trace begins: its data is lost."
    if re.match(rb'\s*"Kind","(?:Agent_Id|Domain)"', peek.head):
        return "is a table of rocprofv3; record it with --output-format json or rocpd instead of csv."
    if peek.path.suffix == ".py":
        return f"is a script, not a trace; record a trace of it: traceview collect -- python {peek.path}"
    return "is not a recognised trace format; see `traceview list formats`."


def parts(reader: ModuleType, path: Path) -> list[Any]:
    """Return what to read of a file, one rank each: its processes where a reader finds several, else just `[None]`."""
    return (list(reader.parts(path)) if hasattr(reader, "parts") else []) or [None]


def superseded_by(reader: ModuleType, path: Path) -> list[Path]:
    """Return paths that may hold what a file holds and more, or be easier to read; few readers know any."""
    return list(reader.superseded_by(path)) if hasattr(reader, "superseded_by") else []
