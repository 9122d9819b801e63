"""A process of the user's Python that does tasks of `convolution/worker.py`, one after the other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from traceview.errors import UsageError
from traceview.paths import CONVOLUTION
from traceview.recording.messages import ending

PROGRAM = CONVOLUTION / "worker.py"
STILL_S = 1800.0
"""A worker that says nothing for this long is ended."""
END_S = 2.0
"""A worker that nobody asks any more gets this long to end."""
LEAVE_S = 30.0
"""One that says no more gets this long before: on a busy machine PyTorch takes seconds to be taken apart."""
MOST_TEXT, MOST_ERRORS = 300, 20_000
"""Characters of the text of an exception, and bytes of errors in which it is looked for."""


class Worker:
    """A worker, which begins with the first task; after it has ended the next task begins another."""

    def __init__(self, python: str, variables: Mapping[str, str] | None = None) -> None:
        self.python, self.variables = python, variables or {}
        self.process: subprocess.Popen[bytes] | None = None
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *rest: object) -> None:
        self.close()
        self.errors.close()

    @property
    def is_alive(self) -> bool:
        """Whether there is a process that was not closed."""
        return self.process is not None

    def ask(self, task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the answers to a task, the last one with `done`; without it the process has ended.

        Raises `UsageError` for a Python that cannot be run.
        """
        process = self.process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            return
        while True:
            watchdog = threading.Timer(STILL_S, process.kill)
            watchdog.daemon = True
            watchdog.start()
            line = process.stdout.readline()
            watchdog.cancel()
            if not line:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=LEAVE_S)
                return
            answer = json.loads(line)
            yield answer
            if "done" in answer:
                return

    def close(self) -> str:
        """End the process; return how it ended, as a sentence without its full stop."""
        process, self.process = self.process, None
        if process is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
        ended = ""
        try:
            code = process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            # What it said before is why it ended, not the signal.
            ended = "did not end by itself"
        if code == 0:
            # Whatever it printed is not why.
            return "its process ended before it answered"
        self.errors.seek(0)
        said = exception(self.errors.read()[-MOST_ERRORS:].decode(errors="replace").strip().splitlines())
        if code < 0 and not ended:
            return f"its process {ending(code)}{' (too little memory?)' if code == -signal.SIGKILL else ''}"
        return (said or f"its process {ended or ending(code)}").rstrip(".")

    def _start(self) -> subprocess.Popen[bytes]:
        self.errors.seek(0)
        self.errors.truncate()
        try:
            self.process = subprocess.Popen(
                [self.python, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                env={**os.environ, **self.variables}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UsageError(f"cannot run {self.python}: {error.strerror}.") from error
        return self.process


def exception(lines: Sequence[str]) -> str:
    """Return the exception at the end of what Python printed, whose text may have several lines; else the last line."""
    behind = next((n for n in range(len(lines), 0, -1) if lines[n - 1].startswith("  ")), 0)
    return " / ".join(lines[behind:] if behind else lines[-1:])[:MOST_TEXT]
