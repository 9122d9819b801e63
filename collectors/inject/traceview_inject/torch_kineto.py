"""One recording with torch.profiler, and oneDNN's account beside it: prepare, start, write.

The profiler is driven by hand: with `torch.profiler.schedule`, a cycle that is not the last one clears its events.
Invariant: a trace never holds a `ProfilerStep#N` that did not end.
"""

import ctypes
import importlib
import os
import re
import weakref
from contextlib import contextmanager, suppress

import torch

from traceview_inject import nvtx, onednn, raw
from traceview_inject.lines import Lines
from traceview_inject.torch_compiled import Kernels
from traceview_inject.torch_ranges import Range

STEP = "ProfilerStep#"


class Kineto:
    """`options` as in `raw`; `problems` collects, as sentences, what could not be recorded."""

    def __init__(self, options):
        self.options = options
        self.problems = []
        self.reads_onednn = onednn.request_timestamps() and torch.backends.mkldnn.is_available()
        self.uses_cuda = self.uses_nvtx = False
        self.profiler = self.account = None
        # Whether the profiler that is set up and not started records a GPU; None where there is none such.
        self.prepared = None
        # Profilers of the program that are set up, or at work.
        self.others = weakref.WeakSet()
        self.lines = Lines() if options["stacks"] else None
        self.kernels = Kernels()

    def prepare(self):
        """Set the profiler up, with CUDA its buffers and callbacks too, a step before it counts."""
        if self.others or torch.autograd._profiler_enabled():
            raise RuntimeError("the program runs torch.profiler itself: give its own trace to `traceview report`")
        activities = [torch.profiler.ProfilerActivity.CPU]
        self.find_device()
        if self.prepared is self.uses_cuda:
            return  # Steps were counted anew before it was started: Kineto warns of one that is dropped.
        if self.uses_cuda:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.profiler = torch.profiler.profile(
            activities=activities,
            record_shapes=not self.options["light"],
            with_stack=bool(self.options["stacks"]),
            profile_memory=bool(self.options["allocations"]),
        )
        # The profiler imports torch._inductor, as making an optimizer does by way of torch._dynamo: two threads that
        # enter these modules, which import each other, by one door wait for each other, and by two get half of them.
        importlib.import_module("torch._dynamo")
        with quiet():
            self.profiler.prepare_trace()
        self.prepared = self.uses_cuda
        os.register_at_fork(after_in_child=end_before_kineto)

    def make_room(self, profiler):
        """Leave Kineto, which has one session, to a profiler of the program: what is set up here ends before."""
        self.others.add(profiler)
        if self.prepared is not None:
            self.prepared = None
            self.profiler.start_trace()
            self.profiler.stop_trace()

    def find_device(self):
        """Learn whether the program uses a GPU, and whether its ranges are told to Nsight."""
        self.uses_cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        # What reaches this capture through NVTX is the program's own.
        self.uses_nvtx = self.uses_cuda and not nvtx.is_ours()

    def start(self):
        """Record from here on."""
        if self.prepared is None:
            self.prepare()
        if self.uses_cuda:
            torch.cuda.synchronize()  # Work of earlier steps is not to show up in the recorded ones.
        if self.reads_onednn:
            try:
                account = onednn.Account(raw.scratch("onednn"), torch._C._verbose.mkldnn_set_verbose)
                account.start()
                self.account = account
            except (OSError, AttributeError) as error:
                self.problems.append(f"oneDNN's own account could not be recorded: {error}")
        self.kernels.start()
        self.prepared = None
        self.profiler.start_trace()
        if self.lines is not None:
            self.lines.start()

    def open_step(self, number):
        """The range of a step, open; what was compiled in the one before is marked from here on."""
        self.kernels.start()
        return Range(f"{STEP}{number}", self.uses_nvtx)

    def stop(self):
        """Stop recording; returns oneDNN's log as [(path, suffix)], empty where it ran nothing."""
        if self.lines is not None:
            self.lines.stop()
        self.kernels.stop()
        logs = self.stop_account()
        if not torch.autograd._profiler_enabled():  # To stop it here and write would end the program by a signal.
            raise RuntimeError("the steps were recorded in a thread other than the one that ends the recording")
        self.profiler.stop_trace()
        return logs

    def stop_account(self):
        """Give C its stdout back; the log as in `stop`."""
        account, self.account = self.account, None
        if account is None:
            return []
        if account.stop():
            return [(account.path, "onednn.log")]
        account.path.unlink()
        return []

    def write(self, cut_step=None):
        """Write the stopped recording; returns (path, suffix). `cut_step` is the number of a step cut short."""
        path = raw.scratch("kineto")
        self.profiler.export_chrome_trace(str(path))
        if cut_step is not None:
            rename_cut_step(path, cut_step)
        return path, "kineto.json"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        if self.account is not None:
            self.account.forked()
        self.account = self.profiler = self.prepared = None


def rename_cut_step(path, step):
    """Call the annotation of a step that did not end `traceview.cut: step N`: readers count and time ProfilerSteps."""
    pattern = re.compile(rf'("name": *)"{STEP}{step}"'.encode())
    path.write_bytes(pattern.sub(rf'\1"traceview.cut: step {step}"'.encode(), path.read_bytes()))


def end_before_kineto():
    """Let a forked child end: at its exit Kineto would wait for a thread that only its parent has (torch 2.13)."""
    libc = ctypes.CDLL(None)
    with suppress(AttributeError):  # on_exit is glibc's.
        libc.on_exit(libc._exit, None)
        # What C holds in its buffers is written first: the last to be registered runs first.
        libc.__cxa_atexit(libc.fflush, None, None)


@contextmanager
def quiet():
    """Keep Kineto's report of its stages (torch 2.13) off the program's stderr; it reads the level at its first use."""
    if "KINETO_LOG_LEVEL" in os.environ:
        yield
        return
    os.environ["KINETO_LOG_LEVEL"] = "99"
    try:
        yield
    finally:
        del os.environ["KINETO_LOG_LEVEL"]
