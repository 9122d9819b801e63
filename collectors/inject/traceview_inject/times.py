"""Times the steps of a program in which nothing is profiled, and ends it after some of them; for every framework.

`TRACEVIEW_MODE=times` asks for it. The first TRACEVIEW_WAIT steps are left out, the next TRACEVIEW_STEPS are timed, and
with TRACEVIEW_STOP_AFTER the program ends then. What was seen is `rank-NNNN.times.json`: wall and processor time of
each step, how busy the machine was meanwhile, the loss and the parameters after the last one, and what each option that
was tried said it did (`applied`).
With TRACEVIEW_SEED, generators of random numbers are seeded when the framework has been imported.

Invariant: between two timed steps nothing is done but to read two clocks; the rest is done before the first and after
the last of them.
"""

import contextlib
import hashlib
import json
import os
import random
import sys
import time

from traceview_inject import processor, raw
from traceview_inject.python import now_ns
from traceview_inject.steps import OPTIMIZER

MODE = "times"
SEEN = {}
# Called when all steps are over, before it is written what each option said.
AT_THE_END = []


def wanted():
    """Whether steps are to be timed instead of recorded."""
    return os.environ.get("TRACEVIEW_MODE") == MODE


def only_options():
    """Whether options are set in this process, and nothing is recorded or timed (TRACEVIEW_MODE=apply)."""
    return os.environ.get("TRACEVIEW_MODE") == "apply"


def applied(name, text):
    """An option that is tried in this process says what it did, or why it could not."""
    SEEN[name] = str(text)


def cpu_ns():
    """Processor time of all threads of this process."""
    return int(1e9 * time.process_time())


def seed(number):
    """Seed every generator of random numbers that this process has by now."""
    random.seed(number)
    numpy, torch, tensorflow, mxnet = map(sys.modules.get, ("numpy", "torch", "tensorflow", "mxnet"))
    # One that is still being imported is seeded by its own turn.
    with contextlib.suppress(Exception):
        numpy.random.seed(number)
    with contextlib.suppress(Exception):
        torch.manual_seed(number)
    with contextlib.suppress(Exception):
        tensorflow.random.set_seed(number)
    with contextlib.suppress(Exception):
        mxnet.random.seed(number)


class Times:
    """The clocks of one recorder's steps; `recorder.facts` may have `arrays` and `synchronize`."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.first, self.count = recorder.options["wait"], recorder.options["steps"]
        self.cpu_ns = []
        self.window = []
        # Processes that worked for this one, whose processor time its own clock leaves out.
        self.workers = 0
        self.is_over = False
        self.loss = None
        if os.environ.get("TRACEVIEW_SEED", "").isdigit():
            seed(int(os.environ["TRACEVIEW_SEED"]))

    def see_result(self, result):
        """Take the result of a step: its first single floating number may be the loss."""
        if not self.is_over:
            self.see_loss(scalar(result))

    def see_loss(self, value):
        """Take what may be the loss: the last single number that gradients were computed from, or a step returned."""
        if not self.is_over and value is not None:
            self.loss = value

    def advance(self, done):
        """`done` steps are over."""
        if self.is_over:
            return
        if not done:
            self.cpu_ns = []
        if done == self.first:
            self.window = [processor.moment()]
            self.workers = processor.n_workers()
            self.synchronize()
        if done == self.first + self.count:
            self.synchronize()
            self.recorder.steps.ends[-1] = now_ns()
        self.cpu_ns.append(cpu_ns())
        if done == self.first + self.count:
            self.finish("complete")
            if self.recorder.options["stop_after"]:
                self.recorder.end_program()

    def synchronize(self):
        """Have everything done that the program has given to a device."""
        ask = getattr(self.recorder.facts, "synchronize", None)
        if ask is not None:
            ask()

    def finish(self, ended_by):
        """Write what was timed, once; nothing where no step was."""
        steps = self.recorder.steps
        done = len(steps.ends)
        if self.is_over or done <= self.first or not self.window:
            return
        self.is_over = True
        self.window.append(processor.moment())
        self.workers = max(self.workers, processor.n_workers())
        for check in AT_THE_END:
            check()
        with raw.signals_held():
            found = {
                "steps": [
                    {
                        "wall_ns": steps.ends[at] - steps.begins[at],
                        "cpu_ns": self.cpu_ns[at + 1] - self.cpu_ns[at],
                    }
                    for at in range(self.first, min(done, self.first + self.count))
                ],
                "window": self.window,
                "workers": self.workers,
                "discarded": self.first,
                "ended_by": ended_by,
                "source": steps.source,
                "loss": number(self.loss),
                "applied": SEEN,
            }
            # Parameters that nothing trains are the same whatever an option does to the outputs.
            if self.loss is not None or steps.source == OPTIMIZER:
                found.update(self.parameters())
            path = raw.scratch("times")
            path.write_text(json.dumps(found))
            facts = self.recorder.facts
            facts.see_job()
            meta = self.recorder.collect([])
            meta.update(
                ended_by=ended_by,
                steps=steps.summary(self.first),
                cost=steps.cost(0, self.first, self.count),
                usage=None,
            )
            raw.publish(facts.rank, meta, (path, "times.json"), [])

    def parameters(self):
        """A check sum of the parameters, and the norm of each; None of both where the framework does not show them."""
        facts = self.recorder.facts
        ask = getattr(facts, "arrays", None)
        arrays = getattr(getattr(facts, "model", None), "arrays", None)
        checksum, norms = hashlib.sha256(), []
        try:
            for content, norm in ask() if ask is not None else numpy_arrays(arrays() if arrays is not None else ()):
                checksum.update(content)
                norms.append(norm)
        except Exception as error:
            applied("", f"the parameters could not be read: {error!r}")
            norms = []
        return {"checksum": checksum.hexdigest() if norms else None, "norms": norms or None}


def number(value):
    """A loss as a float; None for what is no single number."""
    with contextlib.suppress(Exception):
        found = float(value)
        return found if found - found == 0 else None
    return None


def numpy_arrays(arrays):
    """Content and norm of each NumPy array, for `arrays` of facts."""
    import numpy

    for array in arrays:
        array = numpy.ascontiguousarray(array)
        wide = array.astype(numpy.float64).ravel()
        yield array.tobytes(), float(numpy.sqrt(numpy.dot(wide, wide)))


def scalar(value, depth=0):
    """The first single floating number in nested lists, tuples and dictionaries; None where there is none."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        found = (scalar(part, depth + 1) for part in value[:8]) if depth < 4 else ()
        return next(filter(lambda part: part is not None, found), None)
    if isinstance(value, float):
        return value
    shape, dtype = getattr(value, "shape", None), str(getattr(value, "dtype", ""))
    with contextlib.suppress(Exception):
        if shape is not None and len(shape) == 0 and "float" in dtype:
            return value
    return None
