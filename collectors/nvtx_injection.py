"""Builds the library that receives NVTX ranges without Nsight (`nvtx/*.c`), once, and prints where it is.

`traceview collect` runs this; by hand, where traceview is not installed:

    export NVTX_INJECTION64_PATH=$(python collectors/nvtx_injection.py)
    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

It needs a C compiler (`$CC`, or `cc`, `gcc`, `clang` on the PATH) and no headers of NVTX. The library lies in the
user's cache folder under a name made of its source, the compiler and the machine.

Invariant: a library under its name is whole; where none can be made, the reason is one sentence and exit code 1.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "nvtx"
FLAGS = ["-O2", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
COMPILERS = ("cc", "gcc", "clang")
TIMEOUT_S = 60


def compiler():
    """The words that begin a compiler's command; None where there is no compiler."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    return None if found is None else [found]


def library(command):
    """Return the path of the library of this source, compiler and machine, which may not exist yet."""
    text = b"".join(path.read_bytes() for path in sorted(SOURCE.glob("*.[ch]")))
    about = repr((command, FLAGS, platform.machine(), platform.libc_ver())).encode()
    name = f"traceview-nvtx-{hashlib.sha256(text + about).hexdigest()[:16]}.so"
    # A relative one would lie in a folder that somebody may have sent.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "traceview" / name


def is_own(place):
    """Return whether nobody but this user can write to a file or folder: the library is loaded into programs."""
    status = place.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def build(command, place):
    """Compile into `place`. Raises OSError or subprocess.SubprocessError."""
    place.parent.parent.mkdir(parents=True, exist_ok=True)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    if not is_own(place.parent):
        raise PermissionError(f"{place.parent} is not a folder that only you can write to")
    with tempfile.TemporaryDirectory(prefix=".nvtx-", dir=place.parent) as folder:
        draft = Path(folder) / place.name
        sources = map(str, sorted(SOURCE.glob("*.c")))
        subprocess.run(
            [*command, *FLAGS, "-o", str(draft), *sources],
            check=True, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        draft.chmod(0o755)
        draft.replace(place)


def main():
    """Print the library's path, or say on stderr why there is none."""
    if not sys.platform.startswith("linux"):
        return "NVTX ranges are recorded on Linux alone"
    command = compiler()
    if command is None:
        return "NVTX ranges are not recorded: that needs a C compiler (cc, gcc or clang on the PATH, or $CC)"
    place = library(command)
    try:
        if not (place.is_file() and is_own(place) and is_own(place.parent)):
            build(command, place)
    except subprocess.CalledProcessError as error:
        reason = next((line for line in error.stderr.splitlines() if "error" in line), f"exit code {error.returncode}")
        return f"NVTX ranges are not recorded: {command[0]} could not build their receiver ({reason.strip()[:200]})"
    except (OSError, subprocess.SubprocessError) as error:
        return f"NVTX ranges are not recorded: their receiver could not be built ({error})"
    print(place)
    return None


if __name__ == "__main__":
    sys.exit(main())
