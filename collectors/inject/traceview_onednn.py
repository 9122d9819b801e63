"""Keeps oneDNN's own account of what it ran (its verbose lines) out of the program's output and in a file.

oneDNN prints with C's `printf`. So for as long as we record, C's variable `stdout` points at a file of ours; file
descriptor 1, Python's `sys.stdout` and child processes are not touched, nothing can block, and the program's own prints
keep their order. The one law: what C code other than oneDNN printed meanwhile is handed on, byte for byte.

The stamps are milliseconds since 1970 of each primitive's start. oneDNN reads ONEDNN_VERBOSE_TIMESTAMP once, at its
first use, so `request_timestamps` has to come before that.
"""

import ctypes
import os

MARKERS = (b"onednn_verbose,", b"dnnl_verbose,", b"mkldnn_verbose,")
SWITCHES = ("ONEDNN_VERBOSE", "DNNL_VERBOSE", "MKLDNN_VERBOSE")
# The C library's name for `FILE *stdout`: glibc, macOS. Elsewhere (musl) it cannot be changed.
STDOUT_SYMBOLS = ("stdout", "__stdoutp")


def request_timestamps():
    """Ask oneDNN for time stamps; call before the first operation. False where the user drives the verbose mode."""
    if any(os.environ.get(name, "0") not in ("", "0", "none") for name in SWITCHES):
        return False  # The user wants these lines on stdout: they stay as they are.
    os.environ.setdefault("ONEDNN_VERBOSE_TIMESTAMP", "1")
    return os.environ["ONEDNN_VERBOSE_TIMESTAMP"] == "1"


class Account:
    """The verbose lines between `start` and `stop`; `switch(level)` is the framework's way to turn them on and off."""

    def __init__(self, path, switch):
        self.path = path
        self.switch = switch
        self.libc = ctypes.CDLL(None)
        self.libc.fopen.restype = ctypes.c_void_p
        self.libc.fwrite.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
        self.stdout = _variable(self.libc)
        self.program_stdout = None
        self.file = None

    def start(self):
        """Send C's stdout to the file and turn oneDNN's lines on. Raises OSError where that cannot be done."""
        file = self.libc.fopen(os.fsencode(self.path), b"wb")
        if not file:
            raise OSError(f"cannot write {self.path}")
        self.file = ctypes.c_void_p(file)
        # What the program printed and C still buffers stays in its own buffer: flushing it would change its order.
        self.program_stdout, self.stdout.value = self.stdout.value, file
        self.switch(1)

    def stop(self):
        """Turn the lines off, give C its stdout back and hand on what was not oneDNN's; returns the number of lines."""
        self.leave()
        # Flushed, not closed: another thread may be in the middle of a print to it.
        self.libc.fflush(self.file)
        return self._sort_lines()

    def leave(self):
        """Only turn the lines off and give C its stdout back: in a forked child, file and buffer are its parent's."""
        self.switch(0)
        self.stdout.value = self.program_stdout

    def _sort_lines(self):
        """Leave oneDNN's lines in the file and write all else to the program's stdout, through C's own buffer."""
        account, rest = [], []
        for line in self.path.read_bytes().splitlines(keepends=True):
            before, text = _split(line)
            rest.append(before)
            account.append(text)
        self.path.unlink()  # C still holds the old file: a straggler writes there, not here.
        self.path.write_bytes(b"".join(account))
        others = b"".join(rest)
        if others:
            self.libc.fwrite(others, 1, len(others), self.program_stdout)
        return sum(1 for line in account if line)


def version(path):
    """The oneDNN version that the header of an account names, for example `v3.12.0`; None without a header."""
    with path.open("rb") as file:
        for line in file:
            head, found, rest = line.partition(b"info,oneDNN ")
            if found and head.startswith(MARKERS):
                return rest.split()[0].decode()
    return None


def _split(line):
    """(the program's part, oneDNN's part) of a line: a print without a line end may stand before a verbose line."""
    starts = [line.find(marker) for marker in MARKERS if marker in line]
    cut = min(starts) if starts and line.endswith(b"\n") else len(line)
    return line[:cut], line[cut:]


def _variable(libc):
    for symbol in STDOUT_SYMBOLS:
        try:
            return ctypes.c_void_p.in_dll(libc, symbol)
        except ValueError:
            continue
    raise OSError("this C library does not let its stdout be replaced")
