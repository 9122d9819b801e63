"""Runs tasks in processes of this machine.

Invariant: every task is answered. Tasks of a killed worker are retried one at a time to find the one that kills
it; when this process is gone, so are the others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

from traceview.errors import NoRoom

TRIES = 3
"""How often a task is tried that ends its process, or finds no room."""
KILLED = "the process that read it was killed {} times (too little memory?)"
WATCH_SECONDS = 0.5
_AGAIN = object()


def run(jobs: int, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as they come; the result of one that always kills is a sentence.

    Raises `NoRoom` where the machine fails a task again and again.
    """
    to_do, suspects, tries = deque(range(len(tasks))), deque[int](), Counter[int]()
    while to_do or suspects:
        with _pool(min(jobs, len(tasks))) as pool:
            begun: dict[Future[Any], int] = {}
            try:
                while to_do or suspects or begun:
                    _begin(pool, begun, function, tasks, to_do, suspects, jobs)
                    for future in wait(begun, return_when=FIRST_COMPLETED).done:
                        if isinstance(future.exception(), BrokenProcessPool):
                            raise BrokenProcessPool
                        number = begun.pop(future)
                        result = _result(future, tries, number)
                        if result is _AGAIN:
                            suspects.append(number)
                        else:
                            yield number, result
            except BrokenProcessPool:
                is_known = len(begun) == 1
                for number in begun.values():
                    tries[number] += is_known
                    if tries[number] < TRIES:
                        suspects.append(number)
                    else:
                        yield number, KILLED.format(TRIES)


def _begin(
    pool: ProcessPoolExecutor,
    begun: dict[Future[Any], int],
    function: Callable[[Any], Any],
    tasks: Sequence[Any],
    to_do: deque[int],
    suspects: deque[int],
    jobs: int,
) -> None:
    """Give each process a task; one that may kill its process runs alone."""
    while suspects or to_do:
        is_alone = bool(suspects)
        if len(begun) >= (1 if is_alone else jobs):
            return
        number = (suspects or to_do).popleft()
        try:
            with _without_interrupts():
                future = pool.submit(function, tasks[number])
            begun[future] = number
        except BrokenProcessPool:
            suspects.appendleft(number)
            raise
        if is_alone:
            return


def _result(future: Future[Any], tries: Counter[int], number: int) -> Any:
    """Return the result of a task, or `_AGAIN` where it found no room and is to be tried again."""
    error = future.exception()
    if isinstance(error, NoRoom):
        tries[number] += 1
        if tries[number] < TRIES:
            return _AGAIN
    return future.result()


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that are gone afterwards, whatever they are doing."""
    before = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin_process, (os.getpid(),))
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        ours = set(active_children()) - before
        for process in ours:
            process.terminate()
        for process in ours:
            process.join()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT, also in processes that begin meanwhile, from their first instruction on: Ctrl-C is this one's."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process(parent: int) -> None:
    """Without the parent, which ends its processes, they end by themselves."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
