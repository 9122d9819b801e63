"""Nsight Systems reports (`.nsys-rep`, `.qdrep`): exported with `nsys export`, then read as that export.

Capture with `nsys profile -o trace COMMAND`. The report itself is a private format of NVIDIA's; all that is used of it
here is its beginning, `NVIDIA Tegra Profiler Report` and the version that wrote it (as nsys names it in its own errors;
no report was at hand to try it on). Only an nsys of that version or a later one can export it.
"""

from __future__ import annotations

import atexit
import contextlib
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from traceview.decode.files import Peek, Stream, plain_file
from traceview.errors import InputError
from traceview.ingest.sink import Sink
from traceview.paths import temporary_folder
from traceview.readers import nsys

NAME = "nsys_rep"
TITLE = "Nsight Systems report (.nsys-rep, .qdrep), where nsys is installed"
HOW = "nsys profile --trace=cuda,nvtx,cudnn,cublas -o trace COMMAND"

MAGIC = b"NVIDIA Tegra Profiler Report "
_VERSION = re.compile(rb"Report ([\d@]+)")
_exports = contextlib.ExitStack()
"""Exports made by this process, removed when it ends: a report is asked for its processes and then read."""
atexit.register(_exports.close)


def sniff(peek: Peek) -> bool:
    """The words every report begins with."""
    return peek.head.startswith(MAGIC)


def superseded_by(path: Path) -> list[Path]:
    """Its exports, under the names that nsys gives them."""
    return [path.with_suffix(".sqlite"), path.with_name(f"{path.stem}_pqtdir"), path.with_name(f"{path.stem}_arwdir")]


def parts(path: Path) -> list[nsys.Part | None]:
    """The processes in the export."""
    return nsys.parts(_export(path))


def read(stream: Stream, sink: Sink, part: nsys.Part | None = None) -> None:
    """Fill the tables from the export. Raises `InputError` with the command to run when there is no nsys here."""
    nsys.read(Stream(_export(stream.path), stream.progress), sink, part)


def _export(path: Path) -> Path:
    status = path.stat()
    return _exported(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _exported(path: Path, size: int, mtime_ns: int) -> Path:
    tool = shutil.which("nsys")
    with plain_file(path) as (plain, _), plain.open("rb") as file:
        found = _VERSION.search(file.read(100))
    written_by = found.group(1).decode().replace("@", ".") if found else "unknown"
    command = f"nsys export --type sqlite -o {path.stem}.sqlite {path.name}"
    if tool is None:
        raise InputError(
            f"{path.name} is a report of Nsight Systems {written_by}, which only nsys can open, and nsys is not "
            f"installed here. Where it is, run `{command}` and give traceview the result."
        )
    target = _exports.enter_context(temporary_folder("traceview-nsys-")) / "export.sqlite"
    with plain_file(path) as (plain, _):
        run = subprocess.run(
            [tool, "export", "--type", "sqlite", "--force-overwrite", "true", "-o", str(target), str(plain)],
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode or not target.exists():
        said = (run.stderr or run.stdout).strip().splitlines()
        raise InputError(
            f"nsys could not export {path.name} ({said[-1][:200] if said else 'it said nothing'}). It was written by "
            f"version {written_by}: run `{command}` with that version or a later one."
        )
    return target
