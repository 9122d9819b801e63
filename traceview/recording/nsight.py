"""Running a command under Nsight Systems: what is called, with which options, and what it left.

Options are those of the user guide (https://docs.nvidia.com/nsight-systems/UserGuide/): `--capture-range-end=stop`
ends the recording and lets the program go on; `--cuda-graph-trace=node` shows the kernels of CUDA graphs; CPU sampling,
which needs rights and says nothing here, is off. A report is never overwritten.

The one law: the exit status is the command's own, kept by a shell around it, whatever nsys makes of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from traceview.errors import UsageError

TOOL = "nsys"
REPORT = "nsys"
"""Name of the report and its export in `raw/`, without suffix."""
MISSING = (
    "nsys is not on the PATH. It comes with Nsight Systems: NVIDIA's package nsight-systems-cli "
    "(https://developer.nvidia.com/nsight-systems), the CUDA toolkit, or NVIDIA's containers. "
    "Without --tool nsys, traceview collect uses the framework's own profiler."
)
_STATUS = ".status"
_KEEP_STATUS = '"$@"; status=$?; echo $status >"$0"; exit $status'


def command(words: Sequence[str], raw: Path, is_whole: bool) -> list[str]:
    """The command that records another one into `raw/`: the steps that a collector bounds, or all of it.

    Raises `UsageError` where there is no nsys.
    """
    tool = shutil.which(TOOL)
    if tool is None:
        raise UsageError(MISSING)
    window = [] if is_whole else ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]
    # nsys replaces what begins with % in a name.
    output = str(raw / REPORT).replace("%", "%%")
    options = ["--trace=cuda,nvtx,cudnn,cublas,osrt", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node"]
    shell = ["/bin/sh", "-c", _KEEP_STATUS, str(raw / _STATUS)]
    return [tool, "profile", *options, *window, "--export=sqlite", f"--output={output}", *shell, *words]


def status(raw: Path, own: int) -> int | None:
    """The command's exit code, or minus the signal that ended it; None where nsys did not come to run it."""
    try:
        code = int((raw / _STATUS).read_text())
    except (OSError, ValueError):
        return own if own < 0 else None
    return 128 - code if code > 128 else code


def reports(raw: Path) -> list[str]:
    """The names of what nsys left: the export, or only the report where the export failed."""
    return sorted(path.name for path in raw.glob(f"{REPORT}.*") if path.suffix in (".sqlite", ".nsys-rep", ".qdrep"))
