"""Marks each line of the program's own code that runs, as a range: `traceview.line: train.py(57): main`.

torch.profiler itself notes functions, by the line where each begins. Code that torch.compile wrote has the marks of the
lines that it was made from. Invariant: where something else traces the program
(a debugger, a measurement of coverage), that goes on and no lines are marked; only the thread that records has marks.
"""

import sys
import sysconfig
from pathlib import Path

import torch

from traceview_inject.torch_compiled import source, sources
from traceview_inject.torch_compiler import kept_from_compiler

LINE = "traceview.line: "
COMPILED = "traceview.source: "
"""Marks what torch.compile made of a line."""
PACKAGES = {"site-packages", "dist-packages"}


class Lines:
    """Marks of one recording; each frame has at most one open."""

    def __init__(self):
        self.open = {}
        self.names = {}
        self.generated = {}
        self.running = []
        paths = sysconfig.get_paths()
        # The last is that of the collectors.
        self.foreign = [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
        self.foreign.append(Path(__file__).parents[2])

    def start(self):
        """Mark lines from here on, also those of functions that are running."""
        if sys.gettrace() is not None:
            return
        frame = sys._getframe(1)
        while frame is not None:
            if self.name(frame.f_code.co_filename):
                frame.f_trace = self.ran
                self.running.append(frame)
            frame = frame.f_back
        sys.settrace(self.called)

    def stop(self):
        """Mark no more."""
        if sys.gettrace() == self.called:
            sys.settrace(None)
        for frame in self.running:
            frame.f_trace = None
        self.running.clear()
        for key in list(self.open):
            self.close(key)

    @kept_from_compiler
    def called(self, frame, event, arg):
        """A function begins: whether its lines are to be told."""
        return self.ran if self.name(frame.f_code.co_filename) or self.is_generated(frame) else None

    @kept_from_compiler
    def ran(self, frame, event, arg):
        """A line begins, or a function ends."""
        if event in ("line", "return"):
            self.close(id(frame))
            place = self.place(frame) if event == "line" else None
            if place is not None:
                mark = "{}{}({}): {}".format(COMPILED if self.is_generated(frame) else LINE, *place)
                self.open[id(frame)] = torch.autograd._record_function_with_args_enter(mark)
        return self.ran

    @kept_from_compiler
    def close(self, key):
        """End the mark of a frame."""
        handle = self.open.pop(key, None)
        if handle is not None:
            torch.autograd._record_function_with_args_exit(handle)

    @kept_from_compiler
    def place(self, frame):
        """File, line and function of the program's own that a frame is at; None for generated code of no such line."""
        code = frame.f_code
        if not self.is_generated(frame):
            return self.name(code.co_filename), frame.f_lineno, code.co_name
        at = code.co_filename, frame.f_lineno
        if at not in self.generated:
            own = [(self.name(path), line, name) for path, line, name in source(*at) if self.name(path)]
            self.generated[at] = own[0] if own else None
        return self.generated[at]

    @kept_from_compiler
    def is_generated(self, frame):
        """Whether a frame runs what torch.compile wrote: the calls of kernels."""
        return frame.f_code.co_filename in sources()

    @kept_from_compiler
    def name(self, path):
        """The path of a file from the folder that it was imported from; empty for code of others."""
        if path not in self.names:
            whole = Path.cwd() / path
            is_foreign = (
                path.startswith("<")
                or any(folder in whole.parents for folder in self.foreign)
                or any(part in PACKAGES or part.startswith("torchinductor_") for part in whole.parts)
            )
            folders = [Path.cwd() / folder for folder in sys.path]
            around = [folder for folder in folders if folder in whole.parents]
            known = whole.relative_to(max(around, key=lambda folder: len(folder.parts))) if around else whole
            self.names[path] = "" if is_foreign else str(known)
        return self.names[path]
