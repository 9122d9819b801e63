"""Keeps oneDNN's own account of what it ran (its verbose lines) out of the program's output and in a file.

oneDNN prints with C's `printf`. So for as long as we record, C's variable `stdout` points at a file of ours; file
descriptor 1, Python's `sys.stdout` and child processes are not touched, nothing can block, and the program's own prints
keep their order. Invariant: what C code other than oneDNN printed meanwhile is handed on, byte for byte.

The stamps are milliseconds since 1970 of each primitive's start. oneDNN reads ONEDNN_VERBOSE_TIMESTAMP once, at its
first use, so `request_timestamps` has to come before that.
"""

import contextlib
import ctypes
import os
import threading

MARKERS = (b"onednn_verbose,", b"dnnl_verbose,", b"mkldnn_verbose,")
SWITCHES = ("ONEDNN_VERBOSE", "DNNL_VERBOSE", "MKLDNN_VERBOSE")
STAMPS = ("ONEDNN_VERBOSE_TIMESTAMP", "DNNL_VERBOSE_TIMESTAMP")
# Says to child processes that the switch in their environment is ours and not the user's.
OURS = "TRACEVIEW_ONEDNN"
# oneDNN answers to its own name since 2.5, to the one before until today.
OUR_SWITCHES = (*SWITCHES[:2], OURS)
# fallocate(2): give the blocks of what was read back to the disk, and leave the file's size as it is.
KEEP_SIZE_PUNCH_HOLE = 0x03
DRAIN_S = 0.2
# The C library's name for `FILE *stdout`: glibc, macOS. Elsewhere (musl) it cannot be changed.
STDOUT_SYMBOLS = ("stdout", "__stdoutp")


def request_timestamps():
    """Ask oneDNN for time stamps; call before the first operation. False where the user drives the verbose mode."""
    if os.environ.get("TRACEVIEW_MODE") == "times":
        return False  # Nothing is recorded, and these lines take time.
    is_ours = OURS in os.environ
    if not is_ours and any(os.environ.get(name, "0") not in ("", "0", "none") for name in SWITCHES):
        return False  # The user wants these lines on stdout: they stay as they are.
    for name in STAMPS:
        os.environ.setdefault(name, "1")
    return all(os.environ[name] == "1" for name in STAMPS)


class Account:
    """The verbose lines between `start` and `stop`; `switch(level)` is the framework's way to turn them on and off."""

    def __init__(self, path, switch):
        self.path = path
        self.switch = switch
        self.libc = _libc()
        self.stdout = _variable(self.libc)
        self.program_stdout = None
        self.file = None

    def start(self):
        """Send C's stdout to the file and turn oneDNN's lines on. Raises OSError where that cannot be done."""
        file = self.libc.fopen(os.fsencode(self.path), b"wbe")
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
        """Only turn the lines off and give C its stdout back."""
        self.switch(0)
        self.stdout.value = self.program_stdout

    def forked(self):
        """In a forked child, the file is its parent's."""
        self.leave()
        _discard(self.libc, self.file)

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


class StandingAccount:
    """For a framework without a switch: the lines flow from its first operation to the end of the process.

    For all that time C's stdout is our file. A thread hands on what the program's C code printed, DRAIN_S late at most,
    and drops oneDNN's lines unless we record; what was read is cut out of the file, so that it takes no room.
    """

    def __init__(self, make_path):
        self.make_path = make_path
        self.libc = _libc()
        self.file = None
        self.lock = threading.Lock()
        self.header, self.lines, self.is_recording = [], [], False

    def open(self):
        """Ask oneDNN for its lines and catch them; before its first use. Raises OSError where that cannot be done."""
        self.stdout = _variable(self.libc)
        self.path, self.offset, self.rest = self.make_path(), 0, b""
        file = self.libc.fopen(os.fsencode(self.path), b"abe")
        if not file:
            raise OSError(f"cannot write {self.path}")
        self.file, self.reader = ctypes.c_void_p(file), self.path.open("r+b", buffering=0)
        self.program_stdout, self.stdout.value = self.stdout.value, file
        for name in OUR_SWITCHES:
            os.environ[name] = "1"
        threading.Thread(target=self._drain_often, name="traceview", daemon=True).start()

    def start(self):
        """Keep the lines from here on."""
        self.drain()
        self.lines, self.is_recording = [], True

    def stop(self, path):
        """Write the lines since `start` to a file; returns their number."""
        self.drain()
        self.is_recording = False
        count = len(self.lines)
        if count:
            path.write_bytes(b"".join(self.header + self.lines))
        self.lines = []
        return count

    def drain(self, is_last=False):
        """Sort what was printed since the last time."""
        with self.lock:
            if self.file is None:
                return
            self.libc.fflush(self.file)
            text = self.rest + os.pread(self.reader.fileno(), 1 << 30, self.offset)
            self.offset += len(text) - len(self.rest)
            whole = len(text) if is_last else text.rfind(b"\n") + 1
            self.rest = text[whole:]
            for line in text[:whole].splitlines(keepends=True):
                self._sort(*_split(line))
            if self.offset and hasattr(self.libc, "fallocate"):
                hole = (ctypes.c_int64(0), ctypes.c_int64(self.offset))
                self.libc.fallocate(self.reader.fileno(), KEEP_SIZE_PUNCH_HOLE, *hole)

    def close(self):
        """At the end of the process: C gets its stdout back."""
        if self.file is not None:
            self.stdout.value = self.program_stdout
            self.drain(is_last=True)
            self.file = None
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()

    def forked(self):
        """In a forked child: file, thread and lines are the parent's; it opens its own."""
        if self.file is not None:
            self.lock = threading.Lock()
            self.stdout.value = self.program_stdout
            _discard(self.libc, self.file)
            self.reader.close()
            self.lines, self.is_recording = [], False
            self.open()

    def _sort(self, others, line):
        if others:
            self.libc.fwrite(others, 1, len(others), self.program_stdout)
        if b",exec," not in line:
            if line:
                self.header.append(line)
                # oneDNN has read its switches: programs that the program starts shall not see ours.
                for name in OUR_SWITCHES:
                    os.environ.pop(name, None)
        elif self.is_recording:
            self.lines.append(line)

    def _drain_often(self):
        file, wait = self.file, threading.Event()
        while self.file is file:
            wait.wait(DRAIN_S)
            self.drain()


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


def _libc():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    libc.fwrite.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
    return libc


def _discard(libc, file):
    """Empty the buffer of a file: a forked child has a copy of what its parent still has to write, and would write it
    when it ends."""
    for name in ("__fpurge", "fpurge"):  # glibc, macOS
        if hasattr(libc, name):
            getattr(libc, name)(file)
            return


def _variable(libc):
    for symbol in STDOUT_SYMBOLS:
        try:
            return ctypes.c_void_p.in_dll(libc, symbol)
        except ValueError:
            continue
    raise OSError("this C library does not let its stdout be replaced")
