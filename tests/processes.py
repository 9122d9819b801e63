"""Whether a process still runs, and limits of one."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from pathlib import Path


def is_running(pid: int) -> bool:
    """One that has ended has no environment, also where nobody has asked for its exit code."""
    try:
        return bool(Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:
        return False


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Files of this process may not grow beyond `size` bytes.

    No bytecode is written meanwhile: Python leaves a module's file cut at the limit, and none can import it later.
    """
    before, is_off = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = is_off
