"""Traces of many ranks: converted several at a time, by processes of this machine or by a Dask cluster.

Each file is one task, whose result is kept until the capture is complete; the results are then merged into shards of
some dozen ranks, each an ordinary capture. Invariant: the rows are those that reading one file after the other gives.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traceview.store import Options
    from traceview.store.conversion import Group

MANY = 16
"""Ranks up to which a job is converted by one process, unless the user says how: DuckDB uses all cores there, too."""


@dataclass(frozen=True)
class Fleet:
    """How the ranks of a job are converted (`Options.many`). What does it is loaded when there is one."""

    jobs: int | None = None
    """Processes of this machine at work; None for one per core."""
    dask: str | None = None
    """Address of a Dask scheduler, or `local` for a cluster of this machine that lasts as long as the conversion."""
    resumes: bool = True
    """Whether what an interrupted conversion has left is gone on with."""

    def takes(self, n_ranks: int) -> bool:
        """Whether `n_ranks` ranks are converted in parallel: several if the user said how, else many."""
        is_asked = self.dask is not None or (self.jobs or 1) > 1
        return n_ranks > (1 if is_asked else MANY)

    def convert(
        self,
        groups: Sequence[Group],
        unread: Sequence[tuple[str, str]],
        folder: Path,
        target: Path,
        options: Options,
    ) -> list[tuple[str, str]]:
        """Fill the new `folder`, which becomes `target`; returns the traces that cannot be read, each with the reason.

        `unread` are those that no reader knows. See `job.convert`.
        """
        from traceview.fleet import job

        return job.convert(self, groups, unread, folder, target, options)

    def each(self, function: Callable[[Any], None], things: Sequence[Any], options: Options) -> None:
        """Call a function with each thing and its share of the machine, in processes that hold one thing at a time."""
        from traceview.fleet import processes

        jobs = min(self.jobs or os.cpu_count() or 1, len(things))
        share = options.shared(jobs)
        for _ in processes.run(jobs, function, [(thing, share) for thing in things]):
            pass

    def clean(self, target: Path) -> None:
        """Remove what was kept, when `target` is complete."""
        shutil.rmtree(self.place(target), ignore_errors=True)

    @staticmethod
    def place(target: Path) -> Path:
        """The folder for what is done until `target` is complete."""
        return target.with_name(f".{target.name}.partial")
