"""Running a command under Nsight Systems: what is called, with which options, and what it left.

Options are those of the user guide (https://docs.nvidia.com/nsight-systems/UserGuide/): `--capture-range-end=stop`
ends the recording and lets the program go on; `--cuda-graph-trace=node` shows the kernels of CUDA graphs; CPU sampling,
which needs rights and says nothing here, is off. A report is never overwritten.

Invariant: the exit status is the command's own, kept by a shell around it, whatever nsys makes of it.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from traceview.errors import UsageError
from traceview.ingest import secrets

TOOL = "nsys"
REPORT = "nsys"
"""Name of the report and its export in `raw/`, without suffix."""
MISSING = (
    "nsys is not on the PATH. It comes with Nsight Systems: NVIDIA's package nsight-systems-cli "
    "(https://developer.nvidia.com/nsight-systems), the CUDA toolkit, or NVIDIA's containers. "
    "Without --tool nsys, traceview collect uses the framework's own profiler."
)
_STATUS = ".status"
_HIDDEN = ".command"
_KEEP_STATUS = (
    f'traceview_run=$(cat "$0/{_HIDDEN}"); rm -f "$0/{_HIDDEN}"; eval "$traceview_run"; '
    f'set -- $?; echo $1 >"$0/{_STATUS}"; exit $1'
)
# What nsys itself needs of the environment; it writes all that it gets into its report.
_NEEDED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "LD_LIBRARY_PATH",
    "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
)  # fmt: skip


def command(words: Sequence[str], raw: Path, is_whole: bool) -> list[str]:
    """The command that records another one into `raw/`: the steps that a collector bounds, or all of it.

    `words` are what nsys may write into its report; `hide` leaves what is run. Raises `UsageError` where there is no
    nsys.
    """
    tool = shutil.which(TOOL)
    if tool is None:
        raise UsageError(MISSING)
    window = [] if is_whole else ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"]
    # nsys replaces what begins with % in a name.
    output = str(raw / REPORT).replace("%", "%%")
    options = ["--trace=cuda,nvtx,cudnn,cublas,osrt", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node"]
    shell = ["/bin/sh", "-c", _KEEP_STATUS, str(raw)]
    return [tool, "profile", *options, *window, "--export=sqlite", f"--output={output}", *shell, *words]


def hide(words: Sequence[str], environment: Mapping[str, str], raw: Path) -> dict[str, str]:
    """Leave the command and most of its environment in a file that the shell below nsys reads and removes.

    Returns the environment for nsys: what a capture may keep of it, and what nsys needs.
    """
    allowed = secrets.environment(environment)
    shown = {name: value for name, value in environment.items() if allowed.get(name) == value or name in _NEEDED}
    hidden = {name: value for name, value in environment.items() if name not in shown}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in hidden.items() if name.isidentifier()]
    # A name that a shell cannot have (an exported function of bash).
    others = [f"{name}={value}" for name, value in hidden.items() if not name.isidentifier()]
    run = shlex.join(["env", *others, *words] if others else words)
    handle = os.open(raw / _HIDDEN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join([*exports, run]) + "\n")
    return shown


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
