"""A recording that Nsight Systems makes from outside: here only its window is opened and closed, and its steps named.

`traceview collect --tool nsys` runs the program under `nsys profile --capture-range=cudaProfilerApi` and sets
TRACEVIEW_TOOL. nsys writes its one report for all processes itself; a process leaves `rank-NNNN.meta.json` alone.

Invariant: what goes wrong here ends the recording and not the program, as in every collector.
"""

import ctypes
import os
import sys

DRIVER = "libcuda.so.1"
STEP = "ProfilerStep#"


def instead_of(tool):
    """Return the tool that records: Nsight where the user wants it, else the framework's own profiler."""
    is_wanted = os.environ.get("TRACEVIEW_TOOL") == "nsys" and not isinstance(tool, Nsight)
    return Nsight(tool) if is_wanted else tool


class Nsight:
    """In all that does not concern the recording it is the framework's own tool."""

    def __init__(self, tool):
        self.tool, self.problems = tool, []
        self.driver = None
        self.push, self.pop = None, None

    def __getattr__(self, name):
        return getattr(self.tool, name)

    def prepare(self):
        """Find the driver, through which the window is opened, and a way to name steps."""
        try:
            self.driver = ctypes.CDLL(DRIVER)
        except OSError:
            raise RuntimeError("Nsight Systems records GPUs, and this process has no CUDA driver") from None
        if hasattr(self.tool, "find_device"):
            self.tool.find_device()
        self.push, self.pop = nvtx()
        if self.push is None:
            self.problems.append("steps have no names: nothing here can speak NVTX (pip install nvtx)")

    def start(self):
        """Open the window; work of earlier steps is not to show up in it."""
        self.driver.cuCtxSynchronize()
        code = self.driver.cuProfilerStart()
        if code:
            raise RuntimeError(f"the CUDA driver could not start the recording (cuProfilerStart: error {code})")

    def open_step(self, number):
        """The range of a step, open."""
        return Step(f"{STEP}{number}", self.push, self.pop)

    def stop(self):
        """Close the window, when the last step's work is done; there are no logs of ours."""
        self.driver.cuCtxSynchronize()
        self.driver.cuProfilerStop()
        if hasattr(self.tool, "clean"):
            self.tool.stop()  # A profiler that runs since its session was made.
            self.tool.clean()
        return []

    def write(self, cut_step=None):
        """Nothing: nsys writes. The step that was cut short is a range that nothing closes, and so no step."""

    def forget(self):
        """In a forked child: the recording is the parent's."""


class Step:
    """An open step."""

    def __init__(self, name, push, pop):
        self.pop = pop
        if push is not None:
            push(name)

    def close(self):
        """End it."""
        if self.pop is not None:
            self.pop()


def nvtx():
    """Functions that open and close an NVTX range, as (push, pop); None where there are none."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    try:
        from nvtx import pop_range, push_range
    except ImportError:
        return None, None
    return push_range, pop_range
