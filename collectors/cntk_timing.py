"""Records some training steps of an unmodified CNTK 2 program with CNTK's own timing of nodes.

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported cntk; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.cntk.txt` and
`rank-NNNN.meta.json`.

A step ends with `Trainer.train_minibatch` of the first trainer. The text is what `Trainer.print_node_timing` prints:
per node the average time of its calls in the recorded steps, forward and backward. Before it stand lines of our own,
with tabs between the fields: `traceview-cntk step NUMBER START END` (nanoseconds since 1970), and `traceview-cntk layer
NODE NAME` for nodes inside a layer that the program named. CNTK cannot turn its timing off again: it stays on after the
recording, at the cost of two clock readings per node.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import functools
import os
import tempfile
import weakref

import cntk
from cntk.debugging import debug
from traceview_inject import ranks, raw
from traceview_inject.model import Model
from traceview_inject.python import unix_ns
from traceview_inject.recorder import PROCESS, Recorder, safely
from traceview_inject.steps import OPTIMIZER

FRAMEWORK = "cntk"

OURS = "traceview-cntk"
TIMED = b" forward avg "


class CntkRecorder(Recorder):
    """Follows the minibatches of trainers."""

    def __init__(self):
        super().__init__("cntk", Timing(), Facts())

    @safely
    def enter(self, trainer, arguments):
        """A minibatch begins."""
        self.prefer(OPTIMIZER)
        self.facts.see(trainer, arguments)
        self.begin()

    @safely
    def leave(self, trainer):
        """A minibatch was trained."""
        self.tool.trainer = weakref.ref(trainer)
        self.step_ended(OPTIMIZER, trainer)

    @safely
    def times_itself(self):
        """The program wants the timing for itself."""
        self.abandon("the program times its nodes itself: give what it prints to `traceview report`")


class Timing:
    """CNTK's timing of nodes, and the steps that it is of."""

    def __init__(self):
        self.problems = []
        self.trainer = lambda: None
        self.steps, self.table = [], b""

    def prepare(self):
        """Time nodes from here on; printing the times forgets them."""
        cntk.cntk_py.enable_node_timing()

    def start(self):
        """Forget what was timed before."""
        self.steps = []
        self.print_times()

    def open_step(self, number):
        """A step, open."""
        return Step(number, self.steps)

    def stop(self):
        """Take what was timed; there are no logs."""
        self.table = self.print_times()
        return []

    def print_times(self):
        """Time CNTK's nodes anew from here on and return the times that it prints."""
        trainer = self.trainer()
        if trainer is None:
            raise RuntimeError("the trainer was deleted while it was recorded")
        return printed(trainer.print_node_timing)

    def write(self, cut_step=None):
        """Steps, layers and times, as (path, suffix)."""
        lines = ["\t".join([OURS, "step", *map(str, step)]) for step in self.steps]
        lines += ["\t".join([OURS, "layer", *pair]) for pair in layers(self.trainer())]
        path = raw.scratch("cntk")
        path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8") + self.table)
        return path, "cntk.txt"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.trainer = lambda: None


class Step:
    """An open step, kept when it is closed."""

    def __init__(self, number, steps):
        self.number, self.steps, self.start = number, steps, unix_ns()

    def close(self):
        """End it."""
        self.steps.append((self.number, self.start, unix_ns()))


def printed(function):
    """The lines of times that `function` prints in C to stderr; what else comes meanwhile is handed on."""
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            function()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        file.seek(0)
        lines = file.read().splitlines(True)
    for line in lines:
        if TIMED not in line:
            os.write(2, line)
    return b"".join(line for line in lines if TIMED in line)


def layers(trainer):
    """(node, layer) of every node inside a layer that the program named; a layer within a layer has both names."""
    found = {}
    for root in (trainer.model, trainer.loss_function):
        add_layers(root, "", found, set())
    return sorted(found.items())


def add_layers(function, inside, found, seen):
    """Note the layers of a function and of all that it computes from."""
    todo = [getattr(function, "root_function", function)]
    while todo:
        current = todo.pop()
        if current is None or current.uid in seen:
            continue
        seen.add(current.uid)
        layer = ".".join(filter(None, [inside, plain(current.name)]))
        if current.is_block:
            add_layers(current.block_root, layer, found, seen)
        elif layer:
            found[current.uid] = layer
        todo += [value.owner for value in current.inputs if value.is_output]


def plain(name):
    """A name that fits into a field of a line."""
    return " ".join(name.split())


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None
        self.seen = None

    def see(self, trainer, arguments):
        """The first trainer's model, and what it is fed."""
        if self.seen is None:
            self.seen = weakref.ref(trainer)
            self.model.see_variables([Parameter(parameter) for parameter in trainer.model.parameters])
            self.model.see_arguments([value for value in arguments if isinstance(value, dict)])

    def see_job(self):
        """Rank and size of the job: to ask CNTK would start MPI, or fail to."""
        self.rank, self.world_size = ranks.launched()

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        is_gpu = cntk.device.use_default_device().type() == cntk.device.DeviceKind.GPU
        facts.update(
            framework="cntk",
            framework_version=cntk.__version__,
            device="cuda" if is_gpu else "cpu",
            devices=[facts["cpu"]],
            threads=None,
            flags={},
            model=self.model.facts(),
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


class Parameter:
    """Shape and type of a parameter; the type is a class of NumPy's."""

    def __init__(self, parameter):
        self.shape, self.dtype = parameter.shape, parameter.dtype


def install():
    """Hook the one recorder of this process into CNTK; called once, when the program has imported it."""
    recorder = CntkRecorder()
    train, set_timing = cntk.Trainer.train_minibatch, debug.set_node_timing

    @functools.wraps(train)
    def train_minibatch(self, *args, **kwargs):
        if recorder.is_over:
            return train(self, *args, **kwargs)
        recorder.enter(self, (*args, *kwargs.values()))
        result = train(self, *args, **kwargs)
        recorder.leave(self)
        return result

    @functools.wraps(set_timing)
    def set_node_timing(enable):
        if enable:
            recorder.times_itself()
        return set_timing(enable)

    cntk.Trainer.train_minibatch = train_minibatch
    debug.set_node_timing = set_node_timing
    PROCESS.follow(recorder)
