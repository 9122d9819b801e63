"""How a conversion may use the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Progress = Callable[[int, int], None]
"""Called with bytes read and bytes in all."""
Phase = Callable[[str, int, int], None]
"""Called with what is done after reading, how much of it is done, and how much there is (0: not known)."""


@dataclass(frozen=True)
class Options:
    """How a conversion may use the machine, and what the trace does not say."""

    threads: int | None = None
    memory_bytes: int | None = None
    strict: bool = False
    progress: Progress | None = None
    device: str | None = None
    """Name of the GPU, given by hand: it changes nothing of the conversion, and is kept nowhere."""
    phase: Phase | None = None
    query_bytes: int | None = None
    """Memory for queries over what was converted, where `memory_bytes` says nothing."""
    own_queries: bool = False
    """Whether only queries of this package are run, which change nothing: recorded tables can be held in memory, and
    what is made is stored when the answer has been given (`views.keep`)."""
    many: Any = None
    """A `fleet.Fleet`: it converts the ranks of a large job several at a time, instead of one after the other."""
    note: Callable[[str], None] | None = None
    """Called with a sentence about what was left out."""
    capture: Path | None = None
    """Trace, or folder of traces, of the capture of the graphs that the input replays."""
    ranks: frozenset[int] = frozenset()
    """Whose rows alone are asked for; of all ranks when empty. Nothing of the conversion."""

    def enter(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Tell whoever looks what is being done."""
        if self.phase:
            self.phase(phase, done, total)

    def shared(self, jobs: int) -> Options:
        """Return the share of the machine for each of `jobs` processes."""
        threads = self.threads or max(1, (os.cpu_count() or 1) // jobs)
        return Options(threads, self.memory_bytes and max(1, self.memory_bytes // jobs), self.strict)
