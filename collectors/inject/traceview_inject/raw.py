"""The `raw/` folder of a capture, as every collector writes it: options in, finished files out.

Invariant: a file under its final name is whole. Everything is written under a temporary name and renamed, and the
trace comes last, so that a rank is there when its trace is there.

For process number N of the job, `raw/` holds `rank-000N.meta.json` (facts), the trace `rank-000N.<format>` and
possibly logs beside it; while the job runs also `.process-<pid>.txt`, how far each Python process came, and
`.process-<time>-<pid>.txt`, how far it had come when it became another program (exec).
Options are environment variables: TRACEVIEW_DIR (the capture), TRACEVIEW_WAIT, TRACEVIEW_WARMUP, TRACEVIEW_STEPS
(numbers of steps), TRACEVIEW_LIGHT, TRACEVIEW_STACKS, TRACEVIEW_ALLOCATIONS, TRACEVIEW_STOP_AFTER (1: on). With
TRACEVIEW_EVERY (steps from one recording to the next) or TRACEVIEW_ON_SIGNAL (1: whenever `raw/.request` is touched)
each recording has a capture of its own, `step-NNNNNN` in TRACEVIEW_DIR, with a `raw/` like this one.
"""

import gzip
import json
import os
import platform
import shutil
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from traceview_inject import processor, secrets
from traceview_inject.python import unix_ns

SCHEMA = 1
GZIP_FROM_BYTES = 8 << 20
DEFAULTS = {"wait": 3, "warmup": 1, "steps": 4, "every": 0}
DEFAULTS.update(dict.fromkeys(("light", "stacks", "allocations", "stop_after", "on_signal"), 0))
REQUEST = ".request"


def options():
    """The options of this capture by name: whole numbers, 0 or 1 for switches."""
    return {name: int(os.environ.get(f"TRACEVIEW_{name.upper()}", default)) for name, default in DEFAULTS.items()}


def folder(recording=""):
    """The path of `raw/`, of one `recording` of several, made when missing; TRACEVIEW_DIR is absolute by now."""
    path = Path(os.environ["TRACEVIEW_DIR"], recording, "raw")
    path.mkdir(parents=True, exist_ok=True)
    return path


def note(state, detail=""):
    """Leave word of how far this process came: python, framework, waiting, recording, captured, exec or failed."""
    # A full disk or a folder that went away is no reason to disturb the program.
    with suppress(OSError):
        _word().write_text(f"{state}\n{detail}\n")


def requested():
    """When a recording was last asked for, in ns; 0 where none was."""
    with suppress(OSError):
        return Path(os.environ["TRACEVIEW_DIR"], "raw", REQUEST).stat().st_mtime_ns
    return 0


def turn_page():
    """Keep the word left so far: the next program of this process writes under the same number."""
    with suppress(OSError):
        _word().rename(Path(folder(), f".process-{unix_ns()}-{os.getpid()}.txt"))


def _word():
    return Path(folder(), f".process-{os.getpid()}.txt")


def scratch(suffix):
    """A path in `raw/` for this process to write to; the leading dot says that it is not finished."""
    return folder() / f".{os.getpid()}-{unix_ns()}.{suffix}"


def process_facts():
    """Return the facts of any Python process, as a dictionary for `publish`."""
    return {
        "schema": SCHEMA,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **processor.facts(),
        "environment": secrets.environment(os.environ),
        "options": options(),
    }


def _claim(wanted, meta, place):
    """Take rank number `wanted`, or else the first free one, by creating its meta file; returns the number.

    Exclusive creation settles the race between processes that were given no rank, or the same one.
    """
    number = wanted if wanted is not None else 0
    while True:
        path = place / f"rank-{number:04}.meta.json"
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            number += 1
            continue
        if wanted is not None and number != wanted:
            meta["warnings"].append(f"rank {wanted} was already captured by another process; this one is {number}")
        os.close(handle)
        meta["rank"] = number
        draft = scratch("json")
        draft.write_text(json.dumps(secrets.document(meta), indent=1))
        draft.replace(path)
        return number


def publish(rank, meta, trace, logs, recording=""):
    """Give this process's finished files their final names; returns the rank number they carry.

    `rank` is None where the job gave none. `trace` is (scratch path, suffix), None where a tool outside of the process
    writes it; `logs` is a list of the same.
    """
    last = [] if trace is None else [packed(*trace)]
    place = folder(recording)
    number = _claim(rank, meta, place)
    for source, ending in [*logs, *last]:
        source.replace(place / f"rank-{number:04}.{ending}")
    note("captured", f"rank {number}")
    return number


def withdraw(number):
    """Take back what was published under this number."""
    for path in folder().glob(f"rank-{number:04}.*"):
        path.unlink()


def amend(number, recording, **facts):
    """Replace facts of a process that were published under this number. Raises what a full or lost folder raises."""
    path = folder(recording) / f"rank-{number:04}.meta.json"
    draft = scratch("json")
    draft.write_text(json.dumps({**json.loads(path.read_text()), **secrets.document(facts)}, indent=1))
    draft.replace(path)


def packed(path, suffix):
    """A trace that is large is compressed, at the speed of a disk; its (path, suffix) then."""
    if not path.exists():
        raise OSError("the profiler wrote no trace; the capture folder may be full")
    if path.stat().st_size < GZIP_FROM_BYTES or suffix.endswith(".gz"):
        return path, suffix
    small = scratch("gz")
    with path.open("rb") as plain, gzip.open(small, "wb", compresslevel=1) as target:
        shutil.copyfileobj(plain, target, 1 << 20)
    path.unlink()
    return small, f"{suffix}.gz"


@contextmanager
def signals_held():
    """Delay Ctrl-C and SIGTERM until what is being written is whole; then they act as the program wants."""
    held = []
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if handler is not None and handler != signal.SIG_IGN:
            handlers[number] = handler
            signal.signal(number, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held:
            os.kill(os.getpid(), number)
