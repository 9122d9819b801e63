"""Tells the library that receives NVTX ranges (`../nvtx/`) when to record; without that library, nothing.

Invariant: a range is in the capture if it began in a recorded step. The library writes on into the published file
until what had begun has ended, without the time that writing the capture took in between.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

from traceview_inject import raw

VARIABLE = "NVTX_INJECTION64_PATH"
OURS = "traceview-nvtx-"
SUFFIX = "nvtx.log"


def is_ours():
    """Whether what is said through NVTX reaches this capture by itself, and not another tool."""
    return Path(os.environ.get(VARIABLE, "")).name.startswith(OURS)


class Ranges:
    """The process's NVTX ranges; `path` is the file of the recording that is going on."""

    def __init__(self):
        self.library = self.path = None
        if is_ours():
            # Where it was built for another processor or C library, NVTX cannot load it either.
            with suppress(OSError):
                self.library = ctypes.CDLL(os.environ[VARIABLE])

    def wait(self):
        """A framework's steps will be recorded: until then, nothing."""
        if self.library is not None:
            self.library.traceview_nvtx_off()

    def start(self):
        """Record what begins from here on."""
        if self.library is not None:
            self.path = raw.scratch(SUFFIX)
            self.library.traceview_nvtx_open(os.fsencode(self.path))

    def stop(self):
        """Record no more beginnings; the file as [(path, suffix)], empty where nothing was said."""
        path, self.path = self.path, None
        if path is None:
            return []
        self.library.traceview_nvtx_end()
        return [(path, SUFFIX)] if path.exists() else []

    def resume(self):
        """The recording is written, and the program goes on: what that took is not its time."""
        if self.library is not None:
            self.library.traceview_nvtx_resume()

    def drop(self):
        """Forget what was recorded."""
        for path, _ in self.stop():
            path.unlink()
        self.wait()
