"""Runs tasks on a Dask cluster, whose scheduler gives what a lost worker had to another one.

Workers need traceview, and see the traces and the capture under the same names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from traceview.errors import InputError, UsageError

LOCAL = "local"
LOOPBACK = "127.0.0.1"
RETRIES = 3
CONNECT_SECONDS = 20


def run(address: str, jobs: int, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as they come; the result of one that ends its workers is a sentence.

    `address`: of the scheduler, or `local` for a cluster of this machine that listens on loopback only.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--dask needs more packages: pip install 'traceview[dask]'.") from error
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(distributed, address, jobs, stack))
        futures = {client.submit(function, task, pure=False, retries=RETRIES): n for n, task in enumerate(tasks)}
        stack.callback(client.cancel, list(futures))
        for future in distributed.as_completed(list(futures)):
            failure = future.exception()
            if isinstance(failure, distributed.KilledWorker):
                yield futures[future], "the workers that read it were killed (too little memory?)"
            else:
                yield futures[future], future.result()


def _client(distributed: Any, address: str, jobs: int, stack: contextlib.ExitStack) -> Any:
    where: Any = address
    if address == LOCAL:
        where = stack.enter_context(
            distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",
                worker_dashboard_address=f"{LOOPBACK}:0",
            )
        )
    try:
        return distributed.Client(where, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}.") from error
