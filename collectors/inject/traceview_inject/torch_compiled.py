"""Marks the kernels that Inductor generated for a CPU, and tells what torch.compile did in this process.

Inductor's launcher of Triton kernels records each as an operator under its name; the C++ ones leave no trace. They are
called as globals of a generated module: while we record, each is called through a function that marks it.
Invariant: nothing is compiled anew because of us, and after the recording the modules are as they were. What changes
between versions of torch is asked for by name, and left out where it is missing.
"""

import bisect
import linecache
import re
import sys

import torch

from traceview_inject.torch_compiler import kept_from_compiler

FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)\n *(.*)')
LONGEST = 300
"""Characters of a reason; those of torch end in pages of advice."""


class Kernels:
    """Marks of one recording."""

    def __init__(self):
        self.marked = []

    def start(self):
        """Mark what is not marked yet."""
        if not can_mark():
            return
        for module in generated():
            names = [name for name in vars(module) if name.startswith("cpp_fused_")]
            for name in names:
                function = getattr(module, name)
                if callable(function) and not hasattr(function, "of_traceview"):
                    setattr(module, name, marking(name, function, module.__file__))
                    self.marked.append((module, name, function))

    def stop(self):
        """Mark no more."""
        for module, name, function in self.marked:
            setattr(module, name, function)
        self.marked.clear()


def can_mark():
    """Whether this torch marks operators from Python, with their arguments."""
    try:
        torch._C._profiler._RecordFunctionFast("traceview", [], {})
    except (AttributeError, TypeError):
        return False
    return True


def generated():
    """The modules that Inductor wrote and this process has loaded."""
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    found = getattr(cache, "modules", None) or getattr(cache, "cache", None) or ()
    return list(found.values() if isinstance(found, dict) else found)


def marking(name, function, path):
    """`function`, its calls recorded as an operator with the shapes of its arguments, as those of Triton are."""
    mark, told = torch._C._profiler._RecordFunctionFast, {"kernel_backend": "cpp", "kernel_file": path}

    @kept_from_compiler
    def call(*args):
        with mark(name, [value for value in args if isinstance(value, (torch.Tensor, int))], told):
            return function(*args)

    call.of_traceview = True
    return call


@kept_from_compiler
def sources():
    """Stacks of the program by the files of generated modules: (first lines, stacks from there on)."""
    return getattr(getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None), "linemaps", {})


@kept_from_compiler
def source(path, line):
    """Return the lines of the program that a line of a generated module comes from, innermost first, as (file, line,
    function). A cache may hold what was made from the program as it was before: a line that reads differently now is
    left out."""
    known = sources().get(path)
    if not known or len(known) != 2:
        return []
    numbers, stacks = known
    at = bisect.bisect_right(numbers, line)
    frames = FRAME.findall(stacks[at - 1] or "") if at else []
    return [
        (file, int(number), name)
        for file, number, name, code in reversed(frames)
        if linecache.getline(file, int(number)).strip() == code.strip()
    ]


def compilations():
    """Return what was compiled until now and what stopped the compiler, for `rank-NNNN.meta.json`; None if nothing."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    if dynamo is None or not hasattr(dynamo, "get_compilation_metrics"):
        return None
    known = [about(metrics) for metrics in dynamo.get_compilation_metrics()]
    if not known:
        return None
    limit = getattr(getattr(dynamo, "_compilation_metrics", None), "maxlen", None)
    breaks = [
        {"reason": short(each.reason), **innermost(each.user_stack)}
        for each in getattr(dynamo, "graph_break_reasons", ())
        if getattr(each, "graph_break", True)
    ]
    counted = sum(dynamo.counters["graph_break"].values())
    # The list of reasons is newer than their number.
    breaks += [{"reason": None}] * (counted - len(breaks))
    return {"graphs": known, "is_complete": limit is None or len(known) < limit, "breaks": breaks}


def about(metrics):
    """One compilation as plain values."""
    told = {
        "id": metrics.compile_id,
        "function": metrics.co_name,
        "file": metrics.co_filename,
        "line": metrics.co_firstlineno,
        "operators": metrics.graph_op_count,
        "recompiled": short(getattr(metrics, "recompile_reason", None)),
        "failed": short(metrics.fail_reason),
        "is_backward": getattr(metrics, "is_forward", True) is False,
        "start_us": getattr(metrics, "start_time_us", None) or 1e6 * (metrics.start_time or 0) or None,
        "dur_us": getattr(metrics, "duration_us", None) or 1e6 * (metrics.entire_frame_compile_time_s or 0),
    }
    return {name: int(value) if isinstance(value, float) else value for name, value in told.items()}


def short(reason):
    """The first line of a reason, with its explanation where torch gives one."""
    if reason is None:
        return None
    stated = [line.strip() for line in str(reason).splitlines() if line.strip()]
    explained = [line for line in stated[1:2] if line.startswith("Explanation: ")]
    return ". ".join([" ".join(part.split()) for part in [*stated[:1], *explained]])[:LONGEST]


def innermost(stack):
    """The place in the program where a frame summary ends, as a dictionary."""
    frames = list(stack or ())
    if not frames:
        return {}
    return {"file": frames[-1].filename, "line": frames[-1].lineno, "function": frames[-1].name}
