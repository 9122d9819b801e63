"""One recording with XLA's profiler, which TensorFlow and JAX share: it leaves one XPlane file per process.

Invariant: a trace never holds a step that did not end. The profiler keeps a span when it is closed; that of a step
cut short is still open when the recording stops.
"""

import shutil

from traceview_inject import raw


class Xplane:
    """`start(folder)` and `stop()` drive the profiler, `step(number)` makes the context manager that marks a step."""

    def __init__(self, start, stop, step):
        self.start_profiler, self.stop_profiler, self.step = start, stop, step
        self.problems = []
        self.folder = None

    def prepare(self):
        """Nothing: the profiler is ready when it is started."""

    def start(self):
        """Record from here on."""
        self.folder = raw.scratch("profile")
        self.folder.mkdir()
        self.start_profiler(str(self.folder))

    def open_step(self, number):
        """The range of a step, open."""
        return OpenRange(self.step(number))

    def stop(self):
        """Stop recording; there are no logs."""
        self.stop_profiler()
        return []

    def write(self, cut_step=None):
        """The stopped recording as (path, suffix)."""
        found = sorted(self.folder.rglob("*.xplane.pb"))
        if not found:
            raise RuntimeError("the profiler left no .xplane.pb file")
        path = raw.scratch("xplane")
        found[0].replace(path)
        shutil.rmtree(self.folder, ignore_errors=True)
        return path, "xplane.pb"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.folder = None


class OpenRange:
    """A context manager that has been entered."""

    def __init__(self, context):
        self.context = context
        context.__enter__()

    def close(self):
        """Leave it."""
        self.context.__exit__(None, None, None)
