"""Unpickler that makes plain data only, tried in a process of its own first: run as a program, this only tries.

A hundred bytes can keep an unpickler busy without end (the hash of a tuple that holds itself twice, again and again),
or end its process, and no signal is looked at meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import resource
import signal
import subprocess
import sys
from typing import Any, NoReturn

MEMORY_FACTOR, LEAST_MEMORY = 40, 1 << 30
"""Bytes of memory for each of the pickle, and at least: what a pickle says of its own sizes is not trusted."""
LEAST_SECONDS, BYTES_PER_SECOND = 2, 1 << 21
"""Processor time that it may take, at least and for its bytes: ten times what real ones take."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"it wants to import {module[:200]}.{name[:200]}")

    def persistent_load(self, pid: Any, /) -> NoReturn:
        raise pickle.UnpicklingError("it refers to something outside of it")


def load(data: bytes) -> Any:
    """Return the plain data of a pickle. Raises ValueError with the reason."""
    memory, seconds = max(LEAST_MEMORY, MEMORY_FACTOR * len(data)), LEAST_SECONDS + len(data) // BYTES_PER_SECOND
    words = [sys.executable, "-I", "-S", __file__, str(memory), str(seconds)]
    try:
        done = subprocess.run(words, input=data, capture_output=True, check=False)
    except OSError as error:
        raise ValueError(f"no process could be started for it: {error.strerror}") from error
    if done.returncode:
        is_late = done.returncode == -signal.SIGXCPU
        ended = "it takes far more time than its size" if is_late else "the process that tried it ended"
        raise ValueError(done.stderr.decode(errors="replace").strip() or ended)
    try:
        return _Plain(io.BytesIO(data)).load()
    except MemoryError as error:
        raise ValueError("there is too little memory for it") from error


def _try(memory: int, seconds: int) -> None:
    # Less stack than any thread has that loads it later.
    stack = (resource.RLIMIT_STACK, 1 << 18)
    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), stack):
        hard = resource.getrlimit(kind)[1]
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        _Plain(sys.stdin.buffer).load()
    except MemoryError:
        sys.exit("it needs far more memory than its size")
    # A pickle that is damaged, or made to harm, raises errors of any kind.
    except Exception as error:
        sys.exit(" ".join(str(error).split())[:500] or type(error).__name__)
    os._exit(0)


if __name__ == "__main__":
    _try(*map(int, sys.argv[1:]))
