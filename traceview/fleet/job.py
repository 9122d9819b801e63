"""The conversion of a job: every rank is read as a task of its own, then some dozen at a time are merged into a shard.

Invariant: what is done stays until the capture is complete, and nothing of it afterwards. On Dask, workers need
traceview, and see the traces and the capture under the same names; the tasks of a lost worker go to another one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.errors import InputError, NoRoom, UsageError
from traceview.fleet import merge, parts, processes
from traceview.ingest.options import Options
from traceview.paths import sweep
from traceview.store import cache, conversion

if TYPE_CHECKING:
    from traceview.fleet import Fleet

MERGING = "merging ranks"
"""Name of the phase when every file has been read, as users see it."""

Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any]]]
"""Runs a function on tasks and yields, as they come, the number of each task with its result."""


def convert(
    fleet: Fleet,
    groups: Sequence[conversion.Group],
    unread: Sequence[conversion.Refusal],
    folder: Path,
    target: Path,
    options: Options,
) -> list[conversion.Refusal]:
    """Fill the new `folder` with shards; returns the traces that cannot be read, also those known to be before.

    What is done before it ends in whatever way stays beside `target` for the next time, until `clean` is called.
    """
    jobs = fleet.jobs or os.cpu_count() or 1
    run: Run = partial(processes.run, jobs)
    with _parts_folder(fleet, target) as place, contextlib.ExitStack() as stack:
        if fleet.dask:
            run = stack.enter_context(on_dask(fleet.dask, jobs))
        tasks = parts.plan(groups, place, jobs, options)
        done = _read(run, tasks, options)
        refused = [(task.name, part.refused) for task, part in zip(tasks, done, strict=True) if part.refused]
        known = [*unread, *refused]
        shards = merge.plan(done, folder, known, jobs, options)
        conversion.settle(known, len(unread) + len(tasks), options)
        for n_merged, (_, made) in enumerate(run(merge.merge, shards)):
            if not Path(made).is_dir():
                raise NoRoom(f"ranks cannot be merged: {made}.")
            options.enter(MERGING, n_merged, len(shards))
        sweep(parts.BUILDING, folder, young_seconds=0)
    return known


def _read(run: Run, tasks: list[parts.Task], options: Options) -> list[parts.Part]:
    """The part of each task, in their order."""
    done: dict[int, parts.Part] = {}
    total, n_bytes = sum(task.n_bytes for task in tasks), 0
    try:
        for number, part in run(parts.convert, tasks):
            why = f"{tasks[number].sources[0][0]}: {part}."
            done[number] = part if isinstance(part, parts.Part) else parts.Part(refused=why)
            n_bytes += tasks[number].n_bytes
            if options.progress:
                options.progress(n_bytes, total)
    except BaseException:
        if options.note:
            options.note(f"{len(done)} of {len(tasks)} traces are converted and kept; --resume goes on from there")
        raise
    return [done[number] for number in range(len(tasks))]


@contextlib.contextmanager
def _parts_folder(fleet: Fleet, target: Path) -> Iterator[Path]:
    """The folder for what is done, which stays where work ends early.

    One conversion at a time uses it; its lock dies with the process.
    """
    place = fleet.place(target)
    has_parts = place.exists() and any(not path.name.startswith(".") for path in place.iterdir())
    if has_parts and not fleet.resumes:
        raise UsageError(f"an interrupted conversion left its work in {place}; use --resume, or remove that folder.")
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise UsageError(f"cannot write to {place.parent}: {error.strerror}.") from error
    try:
        with contextlib.suppress(OSError):
            _lock(handle, place)
    except UsageError:
        # It is the other one's, who may have nothing in it yet.
        os.close(handle)
        raise
    try:
        sweep(parts.BUILDING, place, young_seconds=0)
        sweep(cache.prefix(target), target.parent, young_seconds=0)
        yield place
    finally:
        sweep(parts.BUILDING, place, young_seconds=0)
        with contextlib.suppress(OSError):  # Where nothing was done, nothing is left.
            place.rmdir()
        os.close(handle)


def _lock(handle: int, place: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another conversion is at work in {place}; wait for it.") from error


LOCAL = "local"
LOOPBACK = "127.0.0.1"
RETRIES = 3
CONNECT_SECONDS = 20


@contextlib.contextmanager
def on_dask(address: str, jobs: int) -> Iterator[Run]:
    """Runs functions on a cluster, begun once: a worker takes seconds to begin. Of tasks that end it: a sentence each.

    `address`: of the scheduler, or `local` for a cluster of this machine that listens on loopback only.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--dask needs more packages: pip install 'traceview[dask]'.") from error
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(distributed, address, jobs, stack))

        def run(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
            futures = {client.submit(function, task, pure=False, retries=RETRIES): n for n, task in enumerate(tasks)}
            stack.callback(client.cancel, list(futures))
            for future in distributed.as_completed(list(futures)):
                if isinstance(future.exception(), distributed.KilledWorker):
                    yield futures[future], "the workers that read it were killed (too little memory?)"
                else:
                    yield futures[future], future.result()

        yield run


def _client(distributed: Any, address: str, jobs: int, stack: contextlib.ExitStack) -> Any:
    where: Any = address
    if address == LOCAL:
        here = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), f"{LOOPBACK}:0")
        cluster = distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, host=LOOPBACK, **here)
        where = stack.enter_context(cluster)
    try:
        return distributed.Client(where, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}.") from error
