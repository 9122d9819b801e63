"""How a conversion may use the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    """What the GPU is, said by hand: nothing of the conversion, and kept nowhere."""
    phase: Phase | None = None
    query_bytes: int | None = None
    """Memory for queries over what was converted, where `memory_bytes` says nothing."""

    def enter(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Tell whoever looks what is being done."""
        if self.phase:
            self.phase(phase, done, total)
