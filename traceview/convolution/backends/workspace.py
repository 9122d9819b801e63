"""Memory that the passes of convolutions use in turns: one piece for each thread, as large as the largest needs."""

from __future__ import annotations

import threading

import torch

ALIGNMENT = 64
FLOAT_BYTES = 4
_thread = threading.local()


class Workspace:
    """Memory that grows to what the largest convolution needs; all convolutions of a thread use it in turns."""

    def __init__(self) -> None:
        self.buffer = torch.zeros(0)

    def parts(self, *floats: int) -> list[torch.Tensor]:
        """Pieces of it, each of a given number of floats, on boundaries of 64 bytes; what they hold is not defined."""
        sizes = [-(-size // 16) * 16 for size in floats]
        if self.buffer.numel() < sum(sizes):
            self.drop()
            self.buffer = torch.zeros(sum(sizes))
        return list(torch.split(self.buffer[: sum(sizes)], sizes))

    def address(self, n_bytes: int) -> int:
        """Return the address of `n_bytes` bytes, on a boundary of 64."""
        (part,) = self.parts(-(-(n_bytes + ALIGNMENT) // FLOAT_BYTES))
        return -(-part.data_ptr() // ALIGNMENT) * ALIGNMENT

    def drop(self) -> None:
        """Give the memory back."""
        self.buffer = torch.zeros(0)


def workspace() -> Workspace:
    """Return the workspace of this thread."""
    if not hasattr(_thread, "workspace"):
        _thread.workspace = Workspace()
    found: Workspace = _thread.workspace
    return found
