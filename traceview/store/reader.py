"""A process of its own for the queries of a user, which reads a capture, changes no file, and can be ended at any time.

DuckDB looks up from some work (one long value, a parser in deep brackets) for minutes, or crashes there. Such work ends
with its process, and the next query gets a new one.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.errors import UsageError
from traceview.ingest.options import Options
from traceview.paths import temporary_folder
from traceview.store import views

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

ENDING = frozenset((signal.SIGINT, signal.SIGTERM))
PIECE, DONE, FAILED = range(3)


class Late(UsageError):
    """An answer took longer than it may."""


class Reader:
    """Answers about one capture, each a function of a connection that is called in another process.

    `has_threads`: whether this process has threads at work, so that it cannot be copied as it is.
    """

    def __init__(self, folder: Path, options: Options | None = None, has_threads: bool = False) -> None:
        plain = replace(options or Options(), progress=None, phase=None, many=None, note=None)
        self._given = folder, plain
        self._how = "fork" if sys.platform == "linux" and not has_threads else "spawn"
        self._pipe: Connection | None = None
        self._process: BaseProcess | None = None
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def ask(self, answer: Callable[..., Iterator[Any]], *given: Any, seconds: float | None = None) -> Iterator[Any]:
        """The pieces of `answer(connection, *given)`, a function of a module, in no more than some seconds.

        Whoever stops before the last piece ends the process. Raises what the function raises, `Late`, and `UsageError`
        where the process did not survive.
        """
        try:
            pipe = self._pipe or self._begin()
            until = time.monotonic() + seconds if seconds is not None else None
            pipe.send((answer, given))
            while (piece := self._received(pipe, until))[0] == PIECE:
                yield piece[1]
        except (EOFError, ConnectionError) as error:
            raise UsageError(self._end_of_it()) from error
        except BaseException:
            self.close()
            raise
        if piece[0] == FAILED:
            raise piece[1]

    def close(self) -> None:
        """End the process, whatever it is at."""
        if self._process:
            self._process.kill()
            self._process.join()
        if self._pipe:
            self._pipe.close()
        self._held.close()
        self._pipe = self._process = None

    def _begin(self) -> Connection:
        """Start the process; returns when it has opened the capture. Raises what it raises."""
        context: Any = multiprocessing.get_context(self._how)
        place = None
        with contextlib.suppress(OSError):
            place = self._held.enter_context(temporary_folder("traceview-query-"))
        self._pipe, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, place, *self._given), daemon=True)
        # Signals are for this process: the other one is told by its end.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            process.start()
            # Before a signal that came meanwhile is acted on: `close` ends it.
            self._process = process
        except OSError as error:
            raise UsageError(f"no process could be started for this query: {error.strerror}.") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()
        kind, failure = self._received(self._pipe, None)
        if kind == FAILED:
            raise failure
        return self._pipe

    def _received(self, pipe: Connection, until: float | None) -> tuple[int, Any]:
        if until is not None and not pipe.poll(max(0.0, until - time.monotonic())):
            raise Late("this took too long; ask for less.")
        found: tuple[int, Any] = pipe.recv()
        return found

    def _end_of_it(self) -> str:
        process = self._process
        if process:
            process.join()
        number = -(process.exitcode or 0) if process else 0
        self.close()
        if number == signal.SIGKILL:
            return "the process of this query was killed, as happens where memory runs out; ask for less."
        name = signal.Signals(number).name if number in set(signal.Signals) else f"exit code {-number}"
        return f"DuckDB did not survive this query ({name}); write it in a simpler way."


def _serve(pipe: Connection, place: Path | None, folder: Path, options: Options) -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # DuckDB spills where this process may write.
    tempfile.tempdir = str(place or "/nowhere")
    # Before the connection: its threads inherit it.
    write_only_in(place)
    try:
        connection = views.connect(folder, options=options)
    except Exception as error:
        pipe.send((FAILED, _portable(error)))
        return
    pipe.send((DONE, None))
    while True:
        try:
            answer, given = pipe.recv()
        except EOFError:
            return
        try:
            for piece in answer(connection, *given):
                pipe.send((PIECE, piece))
        except Exception as error:
            pipe.send((FAILED, _portable(error)))
        else:
            pipe.send((DONE, None))


def _portable(error: Exception) -> Exception:
    """An error that can be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _end_with_parent() -> None:
    """End this process, even in the middle of a query, with the one that asks."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls, the same on every machine that Linux 5.13 runs on."""
PR_SET_NO_NEW_PRIVS = 38
VERSION = 1
PATH_BENEATH = 1
CHANGES = (1 << 1) | sum(1 << bit for bit in range(4, 13))
"""Rights of version 1: to write files, and to make and remove files and folders of any kind."""
SINCE = {2: 1 << 13, 3: 1 << 14}
"""Rights that later versions know: to move files between folders, and to truncate them."""


def write_only_in(folder: Path | None) -> bool:
    """Let this thread, and those it starts, change, make and remove files below `folder` only, or nowhere.

    Landlock of Linux does it, which needs no privileges; returns whether the system has it (Linux from 5.13 on, some
    containers not). What is open stays as it is. It cannot be undone.
    """
    if sys.platform != "linux":
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    if version < 1:
        return False
    rights = CHANGES | sum(right for since, right in SINCE.items() if version >= since)
    rules = call(CREATE_RULESET, struct.pack("Q", rights), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    try:
        if folder:
            place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
            finally:
                os.close(place)
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(call(RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)
