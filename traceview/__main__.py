"""The program: `traceview`, which `python -m traceview` is too.

Invariant: however it ends once this module is loaded, it has an exit code and no traceback; and it leaves at once, for
taking an interpreter with DuckDB in it apart needs 40 ms, a tenth of a report. Ctrl-C before that is Python's own.
"""

import atexit
import gc
import os
import signal
import sys
import time
from _thread import get_ident, start_new_thread
from io import TextIOWrapper
from types import FrameType

GARBAGE = 100_000
"""Objects made and not freed after which Python looks for garbage."""
LATER_S = 0.1
"""Time until a signal is sent again that came at a moment when it would be lost."""
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


def program() -> int:
    """Run the command line; the process ends with its exit code when everything else that waits for the end is done."""
    code = 1
    is_terminated = False

    def end(number: int, frame: FrameType | None) -> None:
        """Leave by an exception, so that what is half written is cleared away.

        Not out of an import's own code: Python drops what is raised in a callback, as importlib's locks have, with
        the lock of all imports still held.
        """
        if frame and frame.f_code.co_filename.startswith("<frozen importlib"):
            start_new_thread(_send_later, (get_ident(), number))
            return
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        nonlocal is_terminated
        is_terminated = True
        raise SystemExit(TERMINATED)

    def leave() -> None:
        nonlocal code
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                pass
            except OSError:
                code = code or 1
        os._exit(code)

    # Modules and rules are many objects, none of them garbage: by default each is looked at many times.
    gc.set_threshold(GARBAGE)
    # Else numpy starts a thread per core that spins for 0.1 s. Not in `os.environ`, which programs that are run get.
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")
    # What is registered first is called last.
    atexit.register(leave)
    try:
        _open_streams()
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, end)
        # Here, so that Ctrl-C while modules are loaded is an end like any other.
        from traceview.cli import main

        code = main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1 if left.code else 0
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        # Nothing is left to be cleared away: another Ctrl-C ends the process without a word.
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
    # Libraries that are called when the signal comes make an error of their own of it.
    code = TERMINATED if is_terminated else code
    return code


def _send_later(thread: int, number: int) -> None:
    time.sleep(LATER_S)
    signal.pthread_kill(thread, number)


def _open_streams() -> None:
    """Standard streams that can be used, and stdout in UTF-8 in any locale. What the caller closed leads nowhere, for
    programs that are run too; only what is printed on a closed stdout fails, as on a full disk.

    Otherwise the next file that is opened would get the number of the closed stream, and what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            file = os.open(os.devnull, os.O_RDONLY) if number == 1 else number
            setattr(sys, name, open(file, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        # Paths need not be text: they leave as they came.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")


if __name__ == "__main__":
    sys.exit(program())
