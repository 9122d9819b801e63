"""The open ranges of a PyTorch program: profiler annotations and, with CUDA, NVTX, so that Kineto and Nsight see them.

Invariant: ranges of one thread close innermost first, whatever an exception left open.
"""

import threading

import torch


class Range:
    """One open range."""

    __slots__ = ("nvtx", "record")

    def __init__(self, name, nvtx):
        self.nvtx = nvtx
        # `record_function` goes through the dispatcher twice, which takes three times as long.
        self.record = torch.autograd._record_function_with_args_enter(name)
        if nvtx:
            torch.cuda.nvtx.range_push(name)

    def close(self):
        """End the range."""
        if self.nvtx:
            torch.cuda.nvtx.range_pop()
        torch.autograd._record_function_with_args_exit(self.record)


class Ranges(threading.local):
    """Ranges open in one thread, also while nothing is recorded: then it has no ranges, but a place all the same.

    An entry has a key: a phase's name, or the id of a module.
    """

    def __init__(self):
        self.open = []

    def has(self, key):
        """Whether `key` is open in this thread."""
        return any(entry[0] == key for entry in self.open)

    def has_module(self):
        """Whether this thread is inside a module's forward."""
        return any(type(entry[0]) is int for entry in self.open)

    def push(self, key, names, nvtx, outermost=True):
        """Open one range for each name and remember them under `key`."""
        self.open.append((key, [Range(name, nvtx) for name in names], outermost))

    def pop(self, key):
        """Close what `key` opened and all that is open inside it; returns the entry's `outermost`, False for none."""
        if not self.has(key):
            return False
        while True:
            other, ranges, outermost = self.open.pop()
            for item in reversed(ranges):
                item.close()
            if other == key:
                return outermost

    def close_all(self):
        """Close every range of this thread: at the end of a step none should be open, of a recording none may."""
        while self.open:
            self.pop(self.open[-1][0])
