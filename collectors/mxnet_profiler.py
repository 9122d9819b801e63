"""Records some training steps of an unmodified MXNet 1.x program with MXNet's profiler.

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported mxnet; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.mxnet.json`, `rank-NNNN.meta.json`
and, where oneDNN ran on a CPU, `rank-NNNN.onednn.log`.

A step ends with the first Gluon trainer's `step` or the first module's `update`; in a program that trains nothing, with
the first block's or module's forward call. MXNet computes behind the program's back: at the end of each step this waits
for the work to be over, until the recording is. Steps and phases are tasks of the profiler's domains `traceview step`
and `traceview phase`.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import contextlib
import functools
import os
import threading

import mxnet as mx
from mxnet import autograd, gluon, profiler
from mxnet.module import BucketingModule, Module, SequentialModule
from traceview_inject import onednn, raw
from traceview_inject.mxnet_facts import Facts
from traceview_inject.mxnet_layers import Layers, now_us
from traceview_inject.recorder import PROCESS, Recorder, safely
from traceview_inject.steps import FORWARD, OPTIMIZER

FRAMEWORK = "mxnet"

SET_CONFIG, SET_STATE, DUMP = profiler.set_config, profiler.set_state, profiler.dump
# Up to how many operators MXNet runs as one, called ImperativeBulk or by all their names: read once, at the first use,
# and for hybrid blocks, for which it was read while MXNet was loaded, where a block's graph is made.
BULK = ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "MXNET_EXEC_BULK_EXEC_INFERENCE")
BULK_FLAGS = ("forward_bulk_size", "backward_bulk_size")


class MxnetRecorder(Recorder):
    """Follows the outermost calls of blocks, modules and trainers, and inside of them those of blocks."""

    def __init__(self):
        layers = Layers(lambda error: self.abandon(f"{error} (in an operator's callback)"))
        super().__init__("mxnet", Profiler(layers), Facts())
        self.inside = threading.local()
        self.layers = layers
        self.layers.wants = not self.options["light"]

    @safely
    def enter(self, phase, source):
        """A call of the program begins; returns whether it is not part of another one."""
        if getattr(self.inside, "phase", None) is not None:
            return False
        self.inside.phase = phase
        if source is not None:
            self.prefer(source)
        self.begin()
        self.steps.is_under_way |= phase == "backward" or mx.autograd.is_recording()
        if self.layers.is_on:
            self.tool.open_phase(phase)
            self.layers.settle()
        return True

    @safely
    def leave(self, source, thing, is_whole):
        """Note that the call is over."""
        self.inside.phase = None
        if self.layers.is_on or (source is not None and source == self.steps.source):
            mx.nd.waitall()
        self.tool.close_phase()
        if source is not None and is_whole:
            self.unit_ended(source, thing)

    @safely
    def see(self, note, *values):
        """Tell `note` something, now or never."""
        return note(*values)

    def close_ranges(self):
        """A step or the recording ends."""
        self.tool.close_phase()

    def ended(self):
        """The process ends."""
        super().ended()
        with contextlib.suppress(Exception):  # An error of the program's last operators, that it did not wait for.
            mx.nd.waitall()
        self.tool.account.close()

    def replaced(self):
        """The process becomes another program: what C code printed is handed on."""
        self.tool.account.drain()
        super().replaced()

    def forked(self):
        """In a forked child."""
        self.inside = threading.local()
        self.tool.account.forked()
        super().forked()


class Profiler:
    """MXNet's profiler, and oneDNN's account beside it."""

    def __init__(self, layers):
        self.problems = []
        self.layers = layers
        self.account = onednn.StandingAccount(lambda: raw.scratch("onednn"))
        self.path = self.phase = None
        self.domains = {}
        self.program_config = {}
        self.is_program_running = False

    def runtime_starts(self):
        """Before MXNet's first operation: oneDNN reads its switches at its first use."""
        if not onednn.request_timestamps():
            self.account = NoAccount()
            return
        try:
            self.account.open()
        except (OSError, AttributeError) as error:
            self.account = NoAccount()
            self.problems.append(f"oneDNN's own account could not be recorded: {error}")

    def prepare(self):
        """Nothing: the profiler is ready when it is started."""

    def start(self):
        """Record from here on."""
        if self.is_program_running or os.environ.get("MXNET_PROFILER_AUTOSTART", "0") != "0":
            raise RuntimeError("the program uses MXNet's profiler itself")
        is_light, has_memory = (raw.options()[name] for name in ("light", "allocations"))
        self.path = raw.scratch("mxnet")
        SET_CONFIG(
            filename=str(self.path),
            profile_all=False,
            profile_symbolic=True,
            profile_imperative=True,
            profile_api=not is_light,
            profile_memory=bool(has_memory),
            aggregate_stats=False,
        )
        self.account.start()
        SET_STATE("run")
        self.layers.is_on = self.layers.wants

    def open_step(self, number):
        """The range of a step, open."""
        self.layers.step_us = now_us()
        return self.task("step", f"step#{number}")

    def open_phase(self, name):
        """The range of a phase, open."""
        self.phase = self.task("phase", name)

    def close_phase(self):
        """Close it, if there is one."""
        phase, self.phase = self.phase, None
        if phase is not None:
            phase.close()

    def task(self, kind, name):
        """A range of ours: a task of the profiler."""
        if kind not in self.domains:
            self.domains[kind] = profiler.Domain(f"traceview {kind}")
        return OpenTask(self.domains[kind].new_task(name))

    def stop(self):
        """Stop recording; returns oneDNN's log as [(path, suffix)], empty where it ran nothing."""
        self.layers.is_on = False
        mx.nd.waitall()
        SET_STATE("stop")
        path = raw.scratch("log")
        return [(path, "onednn.log")] if self.account.stop(path) else []

    def write(self, cut_step=None):
        """The stopped recording as (path, suffix); a step cut short was never closed and has no end."""
        DUMP(False)
        self.end_array()
        # MXNet writes once more when the process ends, to the last file it was told, and removes that before: by its
        # name the null device would be replaced, if the user may; what stands for an open file cannot be removed.
        nowhere = f"/dev/fd/{os.open(os.devnull, os.O_WRONLY)}"
        SET_CONFIG(filename=nowhere, profile_symbolic=False, profile_imperative=False, profile_api=False)
        if self.program_config:
            SET_CONFIG(**self.program_config)
        if self.layers.wants:
            self.layers.name_operators(self.path)
        return self.path, "mxnet.json"

    def end_array(self):
        """MXNet ends the array only where it will never record again, and the program might."""
        with self.path.open("rb+") as file:
            file.seek(-64, os.SEEK_END)
            if not file.read().rstrip().endswith(b"}]}".rstrip()):
                file.write(b"]}\n")

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.layers.is_on = False
        self.phase = None


class OpenTask:
    """A task of the profiler that has been started."""

    def __init__(self, task):
        self.task = task
        task.start()

    def close(self):
        """Stop it."""
        self.task.stop()


class NoAccount:
    """Stands in where oneDNN's lines are not ours to take."""

    def start(self):
        """Nothing to keep."""

    def stop(self, path):
        """No lines."""
        return 0

    def close(self):
        """Nothing to give back."""

    forked = drain = close


def install():
    """Hook the one recorder of this process into MXNet; called once, when the program has imported it."""
    recorder = MxnetRecorder()
    recorder.tool.runtime_starts()
    if not recorder.options["light"]:
        run_operators_one_by_one()
    follow_forward(recorder)
    follow_backward(recorder)
    follow_training(recorder)
    make_room_for_own_profiler(recorder)
    PROCESS.follow(recorder)


def run_operators_one_by_one():
    """Have every operator run, and be recorded, on its own, where the program does not say otherwise."""
    for name in BULK:
        os.environ.setdefault(name, "0")
    build = gluon.HybridBlock._build_cache

    @functools.wraps(build)
    def built(self, *args):
        flags, said = self._flags, {name for name, _ in self._flags}
        self._flags = [*flags, *((name, 0) for name in BULK_FLAGS if name not in said)]
        try:
            return build(self, *args)
        finally:
            self._flags = flags

    gluon.HybridBlock._build_cache = built


def followed(recorder, method, phase, source, see=None, inner=None):
    """`method` of a class, its outermost calls told to the recorder; `see(self, *args)` notes facts after them.

    `inner(self, begin_us)` is told of the calls inside of others.
    """

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        if recorder.is_over or (args and isinstance(args[0], mx.sym.Symbol)):  # Its graph is made.
            return method(self, *args, **kwargs)
        if not recorder.enter(phase, None if source == FORWARD else source):
            if inner is None or not recorder.layers.is_on:
                return method(self, *args, **kwargs)
            recorder.see(recorder.layers.settle)
            begin_us = now_us()
            result = method(self, *args, **kwargs)
            recorder.see(inner, self, begin_us)
            return result
        is_whole = False
        try:
            result = method(self, *args, **kwargs)
            is_whole = True
            if see is not None:
                recorder.see(see, self, *args)
            return result
        finally:
            recorder.leave(source, self, is_whole)

    return call


def follow_forward(recorder):
    """Be told of the calls of the outermost block, of those inside, and of modules' forward calls."""
    layers, see = recorder.layers, recorder.facts.see_call
    block = gluon.Block
    block.__call__ = followed(
        recorder, block.__call__, "forward", FORWARD, see, lambda inner, begin_us: layers.ran(inner.name, begin_us)
    )
    call = gluon.HybridBlock._call_cached_op

    @functools.wraps(call)
    def called(self, *args):
        if layers.is_on:
            recorder.see(layers.follow_block, self)
        return call(self, *args)

    gluon.HybridBlock._call_cached_op = called
    for kind in modules():
        kind.forward = followed(recorder, following(recorder, kind.forward), "forward", FORWARD, see)


def following(recorder, forward):
    """`forward` of a module, which is asked to tell its layers."""

    @functools.wraps(forward)
    def call(self, *args, **kwargs):
        if recorder.layers.is_on:
            recorder.see(recorder.layers.follow_module, self)
        return forward(self, *args, **kwargs)

    return call


def follow_backward(recorder):
    """Be told of the backward pass: of an array, of several heads, of a module."""
    array, run = mx.nd.NDArray, autograd.backward
    array.backward = followed_backward(recorder, array.backward)
    autograd.backward = followed_backward(recorder, run)
    for kind in modules():
        kind.backward = followed(recorder, kind.backward, "backward", None)


def followed_backward(recorder, run):
    """`run`, which computes the gradients of its first argument."""
    layers = recorder.layers

    @functools.wraps(run)
    def backward(heads, *args, **kwargs):
        if recorder.is_over or not recorder.enter("backward", None):
            return run(heads, *args, **kwargs)
        head = heads[0] if isinstance(heads, (list, tuple)) and len(heads) == 1 else heads
        kinds = recorder.see(layers.backward_begins, head) if layers.is_on and isinstance(head, mx.nd.NDArray) else None
        begin_us = now_us()
        try:
            return run(heads, *args, **kwargs)
        finally:
            if kinds:
                recorder.see(layers.backward_ended, begin_us, kinds)
            recorder.leave(None, None, True)

    return backward


def follow_training(recorder):
    """Be told where a trainer or a module has changed the parameters, and which there are."""

    def see_trainer(trainer, *args):
        recorder.facts.see_parameters(
            parameter.list_data()[0] for parameter in trainer._params if parameter.grad_req != "null"
        )

    def see_module(module, *args):
        recorder.facts.see_parameters(module.get_params()[0].values())

    for name in ("step", "update"):
        method = getattr(gluon.Trainer, name)
        setattr(gluon.Trainer, name, followed(recorder, method, "optimizer", OPTIMIZER, see_trainer))
    for kind in modules():
        kind.update = followed(recorder, kind.update, "optimizer", OPTIMIZER, see_module)


def modules():
    """The classes of the older interface that compute."""
    return Module, BucketingModule, SequentialModule


def make_room_for_own_profiler(recorder):
    """There is one profiler: when the program configures or starts it, ours ends before."""
    tool = recorder.tool

    @functools.wraps(SET_CONFIG)
    def set_config(**kwargs):
        recorder.yield_to_own_profiler()
        tool.program_config.update(kwargs)
        return SET_CONFIG(**kwargs)

    @functools.wraps(SET_STATE)
    def set_state(state="stop", profile_process="worker"):
        recorder.yield_to_own_profiler()
        tool.is_program_running = state == "run"
        return SET_STATE(state, profile_process)

    profiler.set_config, profiler.set_state = set_config, set_state
