"""Records some training steps of an unmodified MXNet 1.x program with MXNet's profiler.

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported mxnet; options are described in
`inject/traceview_raw.py`. Each process that runs steps leaves `capture/raw/rank-NNNN.mxnet.json`, `rank-NNNN.meta.json`
and, where oneDNN ran on a CPU, `rank-NNNN.onednn.log`.

A step ends with the first Gluon trainer's `step` or the first module's `update`; in a program that trains nothing, with
the first block's or module's forward call. MXNet computes behind the program's back: at the end of each step this waits
for the work to be over, until the recording is. Steps and phases are tasks of the profiler's domains `traceview step`
and `traceview phase`.

The one law: the program behaves as without us; see `inject/traceview_recorder.py`.
"""

import functools
import os
import threading
import weakref

import mxnet as mx
import traceview_onednn as onednn
import traceview_raw as raw
from mxnet import autograd, gluon, profiler
from mxnet.module import BucketingModule, Module, SequentialModule
from traceview_model import Model
from traceview_recorder import DONE, PROCESS, RECORDING, Recorder, safely
from traceview_steps import FORWARD, OPTIMIZER

SET_CONFIG, SET_STATE, DUMP = profiler.set_config, profiler.set_state, profiler.dump
# Up to how many operators MXNet runs as one, called ImperativeBulk or by all their names: read once, at the first use,
# and for hybrid blocks, for which it was read while MXNet was loaded, where a block's graph is made.
BULK = ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "MXNET_EXEC_BULK_EXEC_INFERENCE")
BULK_FLAGS = ("forward_bulk_size", "backward_bulk_size")


class MxnetRecorder(Recorder):
    """Follows the outermost calls of blocks, modules and trainers."""

    def __init__(self):
        super().__init__("mxnet", Profiler(), Facts())
        self.inside = threading.local()
        self.tool.account = onednn.StandingAccount(lambda: raw.scratch("onednn"))

    @safely
    def enter(self, phase, source, thing):
        """A call of the program begins; returns whether it is no part of another one."""
        if getattr(self.inside, "phase", None) is not None:
            return False
        self.inside.phase = phase
        if source is not None:
            self.prefer(source)
        self.begin()
        if self.state == RECORDING and not self.options["light"]:
            self.tool.open_phase(phase)
        return True

    @safely
    def leave(self, source, thing, is_whole):
        """That call is over."""
        self.inside.phase = None
        if self.tool.phase is not None or (source is not None and source == self.steps.source):
            mx.nd.waitall()
        self.tool.close_phase()
        if source is not None and is_whole:
            self.step_ended(source, thing)

    def close_ranges(self):
        """A step or the recording ends."""
        self.tool.close_phase()

    def ended(self):
        """The process ends."""
        super().ended()
        self.tool.account.close()

    def forked(self):
        """In a forked child."""
        self.inside = threading.local()
        self.tool.account.forked()
        super().forked()


class Profiler:
    """MXNet's profiler, and oneDNN's account beside it."""

    def __init__(self):
        self.problems = []
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
        is_light, has_memory = (raw.options()[name] for name in ("light", "memory"))
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

    def open_step(self, number):
        """The range of a step, open."""
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
        mx.nd.waitall()
        SET_STATE("stop")
        path = raw.scratch("log")
        return [(path, "onednn.log")] if self.account.stop(path) else []

    def write(self, cut_step=None):
        """The stopped recording as (path, suffix); a step cut short was never closed and has no end."""
        DUMP(False)
        self.end_array()
        # MXNet writes once more when the process ends, to the last file it was told.
        SET_CONFIG(filename=os.devnull, profile_symbolic=False, profile_imperative=False, profile_api=False)
        if self.program_config:
            SET_CONFIG(**self.program_config)
        return self.path, "mxnet.json"

    def end_array(self):
        """MXNet ends the array only where it will never record again, and the program might."""
        with self.path.open("rb+") as file:
            file.seek(-64, os.SEEK_END)
            if not file.read().rstrip().endswith(b"}]}".rstrip()):
                file.write(b"]}\n")

    def forget(self):
        """In a forked child: the recording is the parent's."""
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

    forked = close


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.owner = lambda: None
        self.warnings = []
        self.rank = self.world_size = None
        self.device = "cpu"

    def see_call(self, thing, arguments):
        """The outermost block or module that is called, and with what: the first one is the model."""
        if self.owner() is None and not isinstance(thing, gluon.loss.Loss):
            self.owner = weakref.ref(thing)
            self.model.name = type(thing).__name__
            self.model.see_arguments(getattr(batch, "data", batch) for batch in arguments)

    def see_parameters(self, arrays):
        """All parameters that are trained, as arrays."""
        arrays = list(arrays)
        self.model.see_variables(arrays)
        if any(array.context.device_type == "gpu" for array in arrays):
            self.device = "cuda"

    def see_job(self):
        """Rank and size of a distributed job, from the launcher's environment."""
        if os.environ.get("DMLC_ROLE") == "worker" and os.environ.get("DMLC_WORKER_ID", "").isdigit():
            self.rank = int(os.environ["DMLC_WORKER_ID"])
            self.world_size = int(os.environ.get("DMLC_NUM_WORKER") or 1)

    def collect(self, logs):
        """All of it as one dictionary; `logs` are (path, suffix) of the logs beside the trace."""
        facts = raw.process_facts()
        facts.update(
            framework="mxnet",
            framework_version=mx.__version__,
            onednn_version=next((onednn.version(path) for path, _ in logs), None),
            device=self.device,
            devices=[facts["cpu"]] if self.device == "cpu" else [f"gpu({n})" for n in range(mx.context.num_gpus())],
            threads=_threads(),
            flags={
                "engine": os.environ.get("MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice"),
                "bulk": os.environ.get(BULK[0]) != "0",
                "onednn": mx.runtime.Features().is_enabled("MKLDNN")
                and os.environ.get("MXNET_MKLDNN_ENABLED", "1") != "0",
                "cudnn_autotune": os.environ.get("MXNET_CUDNN_AUTOTUNE_DEFAULT"),
            },
            model=self.model.facts(),
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


def _threads():
    """How many threads OpenMP gives one operator."""
    try:
        return int(mx.base._LIB.omp_get_max_threads())
    except AttributeError:
        return None


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


def followed(recorder, method, phase, source, see=None):
    """`method` of a class, its outermost calls told to the recorder; `see(self, args)` notes facts after it."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        is_watched = recorder.state != DONE and not _is_symbolic(args)
        if not is_watched or not recorder.enter(phase, None if source == FORWARD else source, self):
            return method(self, *args, **kwargs)
        is_whole = False
        try:
            result = method(self, *args, **kwargs)
            is_whole = True
            if see is not None:
                note(recorder, see, self, args)
            return result
        finally:
            recorder.leave(source, self, is_whole)

    return call


def _is_symbolic(args):
    """Whether a block is called to describe its graph, not to compute."""
    return bool(args) and isinstance(args[0], mx.sym.Symbol)


@safely
def note(recorder, see, thing, args):
    """Note a fact."""
    see(thing, args)


def follow_forward(recorder):
    """Be told of the calls of the outermost block, and of modules' forward calls."""
    see = recorder.facts.see_call
    for owner, name in ((gluon.Block, "__call__"), *((kind, "forward") for kind in modules())):
        setattr(owner, name, followed(recorder, getattr(owner, name), "forward", FORWARD, see))


def follow_backward(recorder):
    """Be told of the backward pass: of an array, of several heads, of a module."""
    array = mx.nd.NDArray
    array.backward = followed(recorder, array.backward, "backward", None)
    for kind in modules():
        kind.backward = followed(recorder, kind.backward, "backward", None)
    run = autograd.backward

    @functools.wraps(run)
    def backward(heads, *args, **kwargs):
        if recorder.state == DONE or not recorder.enter("backward", None, None):
            return run(heads, *args, **kwargs)
        try:
            return run(heads, *args, **kwargs)
        finally:
            recorder.leave(None, None, True)

    autograd.backward = backward


def follow_training(recorder):
    """Be told where a trainer or a module has changed the parameters, and which there are."""

    def see_trainer(trainer, args):
        recorder.facts.see_parameters(
            parameter.list_data()[0] for parameter in trainer._params if parameter.grad_req != "null"
        )

    def see_module(module, args):
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
        recorder.finish("the program's own profiler")
        tool.program_config.update(kwargs)
        return SET_CONFIG(**kwargs)

    @functools.wraps(SET_STATE)
    def set_state(state="stop", profile_process="worker"):
        recorder.finish("the program's own profiler")
        tool.is_program_running = state == "run"
        return SET_STATE(state, profile_process)

    profiler.set_config, profiler.set_state = set_config, set_state
