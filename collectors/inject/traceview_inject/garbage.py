"""Pauses in which Python's garbage collector ran while steps were recorded.

Invariant: what it notes are numbers, which the collector does not look at; of very many pauses the first count.
"""

import gc

from traceview_inject.python import unix_ns

LEAST_NS = 100000
"""Shorter pauses are not noted: those of the youngest objects, of which there are many."""
MOST = 2000


class Pauses:
    """Generation, start in microseconds since 1970 and duration in nanoseconds of each pause."""

    def __init__(self):
        self.noted, self._started = [], None

    def start(self):
        """Note pauses from here on."""
        gc.callbacks.append(self._called)

    def stop(self):
        """Return what was noted; nothing is from here on."""
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)
        return self.noted

    def _called(self, phase, info):
        if phase == "start":
            self._started = unix_ns()
        elif self._started is not None:
            took_ns, self._started = unix_ns() - self._started, None
            if took_ns >= LEAST_NS and len(self.noted) < MOST:
                self.noted.append([info["generation"], (unix_ns() - took_ns) // 1000, took_ns])
