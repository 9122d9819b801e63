"""Applies a plan of `traceview schedule` to the models of an unmodified PyTorch program.

TRACEVIEW_PLAN is the plan, TRACEVIEW_PLAN_RUNTIME the folder of what runs it (`traceview/experiments`). A model is the
outermost module that is called; it is looked at once, at its first call, when its modules have their final names.

Invariant: a plan that cannot be read or does not fit leaves the program as it was, and a line on stderr says so.
"""

import atexit
import functools
import importlib
import importlib.util
import os
import sys
import weakref
from pathlib import Path

from traceview_inject.times import applied

PLAN, RUNTIME = "TRACEVIEW_PLAN", "TRACEVIEW_PLAN_RUNTIME"
PACKAGE = "traceview_convolution"
LAUNCHER = "torch.distributed.launcher.api"
# Imported by torchrun itself, which runs no model and has nothing to say beside its ranks.


def install(framework):
    """Watch for models, once PyTorch has been imported."""
    if framework != "torch" or not os.environ.get(PLAN):
        return
    try:
        runtime = load(os.environ[RUNTIME])
        plan = runtime.load(os.environ[PLAN])
    except Exception as error:
        say("the plan is not applied: " + str(error))
        applied("plan", "no: " + str(error))
        return
    applied("plan", "no: no convolution of the plan ran")
    if os.environ.get("TRACEVIEW_MODE") == "apply":
        atexit.register(summed_up, runtime)
    watch(runtime, plan)


def summed_up(runtime):
    """Report how the plan was used, when the program ends."""
    ran, stayed = runtime.tally["by the plan"], runtime.tally["as before"]
    own = runtime.tally["own"]
    if not ran + stayed + own and LAUNCHER in sys.modules:
        return
    if not ran + stayed + own:
        say("no convolution of the plan ran: its shapes, number of threads or modules are others, or it names nothing")
    else:
        others = f", {own} are PyTorch's own by the plan" if own else ""
        say(f"by the plan ran {ran} passes of convolutions, {stayed} stayed as they were{others}")
    if runtime.elsewhere:
        say(f"calls of planned layers that ran as before: {why(runtime)}")


def why(runtime):
    """How many calls ran as before, by the reason."""
    return ", ".join(f"{calls} with {reason}" for reason, calls in runtime.elsewhere.most_common())


def told(runtime, n_layers, changes, layers):
    """Return the use of the plan so far, in the form of an option's result.

    `changes`: whether the plan changes anything; it has no effect then where nothing that it changes ran.
    """
    ran = {layer.key for layer in layers if layer.has_run}
    if any(layer.has_run for layer in layers if layer.is_changed or not changes):
        return f"yes: {len(ran)} of {n_layers} layers"
    reason = f": calls of planned layers ran as before, {why(runtime)}" if runtime.elsewhere else ""
    return f"no: no convolution of the plan ran{reason}"


def load(folder):
    """The runtime as a package of its own, also where traceview is not installed."""
    begin = str(Path(folder, "__init__.py"))
    spec = importlib.util.spec_from_file_location(PACKAGE, begin, submodule_search_locations=[folder])
    sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[PACKAGE])
    return importlib.import_module(PACKAGE + ".runtime")


def watch(runtime, plan):
    """Apply the plan to each outermost module at its first call."""
    import torch

    call = torch.nn.Module.__call__
    seen = weakref.WeakSet()
    inside, layers = [], []
    n_layers = len({runtime.key(plan, entry) for entry in plan["layers"]})
    changes = any(map(runtime.is_changed, plan["layers"]))

    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if inside or torch.compiler.is_compiling() or torch.jit.is_tracing():
            return call(self, *args, **kwargs)
        if self not in seen:
            seen.add(self)
            layers.extend(runtime.apply(self, plan, say))
        inside.append(True)
        try:
            return call(self, *args, **kwargs)
        finally:
            inside.pop()
            applied("plan", told(runtime, n_layers, changes, layers))

    torch.nn.Module.__call__ = called


def say(text):
    """A line on stderr."""
    sys.stderr.write("traceview: " + text + "\n")
