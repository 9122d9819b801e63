"""Records some training steps of an unmodified TensorFlow 2 program with TensorFlow's profiler (XPlane).

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported tensorflow; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.xplane.pb`, `rank-NNNN.meta.json`
and, where oneDNN ran on a CPU, `rank-NNNN.onednn.log`.

A step ends with the outermost `tf.function` that computes gradients (Keras' `fit` and `train_on_batch` call one), or
where an optimizer changes variables outside of any; in a program that trains nothing, with the first `tf.function` that
is called from outside. A loop that knows better says `import sys; sys.audit("traceview.step")`. Steps are marked as
`train`, with their number, unless the program marks its own (`tf.profiler.experimental.Trace(..., step_num=...)`).
Layers and directions stand in the operators' names.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import contextlib
import functools
import threading
import weakref

import tensorflow as tf
from tensorflow.python.eager import backprop, context
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.profiler import profiler_v2, trace
from tensorflow.python.training import optimizer as training
from traceview_inject import onednn, ranks, raw
from traceview_inject.model import Model
from traceview_inject.recorder import PROCESS, RECORDING, Recorder, safely
from traceview_inject.steps import FORWARD, OPTIMIZER
from traceview_inject.tensorflow_graph import convolutions, lines
from traceview_inject.xplane import Xplane

FRAMEWORK = "tensorflow>=2"

START, STOP = profiler_v2.start, profiler_v2.stop


class TensorflowRecorder(Recorder):
    """Follows the program's outermost compiled functions."""

    def __init__(self):
        super().__init__("tensorflow", Profiler(), Facts())
        self.outermost = threading.local()
        self.entered = None
        self.trainers = weakref.WeakSet()

    @safely
    def enter(self, function, arguments):
        """A function is called; returns whether from outside of any other."""
        if getattr(self.outermost, "function", None) is not None or not tf.executing_eagerly():
            return False
        self.outermost.function = self.entered = function
        self.begin()
        self.facts.see_call(function, arguments)
        return True

    @safely
    def leave(self, function):
        """The outermost function returned, or raised."""
        self.outermost.function = self.entered = None
        is_trainer = function in self.trainers
        if self.state == RECORDING and is_trainer:
            self.facts.functions.add(function)
        if is_trainer:
            self.prefer(OPTIMIZER)
            self.begin()
        self.unit_ended(OPTIMIZER if is_trainer else FORWARD, function)

    @safely
    def tape(self):
        """Gradients are about to be computed: now, or in the function that is traced."""
        function = getattr(self.outermost, "function", None)
        if function is None and not tf.executing_eagerly():
            function = self.entered  # A strategy traces each replica in a thread of its own.
        if function is not None:
            self.trainers.add(function)
        else:
            self.begin()
            self.steps.is_under_way = True

    @safely
    def applied(self, optimizer):
        """An optimizer changed variables; inside a function, its call is the step."""
        if getattr(self.outermost, "function", None) is None and tf.executing_eagerly():
            self.prefer(OPTIMIZER)
            self.begin()
            self.step_ended(OPTIMIZER, optimizer)

    @safely
    def marked(self):
        """The program marks its own steps."""
        if self.state != RECORDING:
            self.tool.marks_steps = False

    def ended(self):
        """The process ends."""
        super().ended()
        self.tool.account.close()

    def replaced(self):
        """The process becomes another program: what C code printed is handed on."""
        self.tool.account.drain()
        super().replaced()

    def forked(self):
        """In a forked child."""
        self.tool.account.forked()
        super().forked()


class Profiler(Xplane):
    """TensorFlow's profiler, and oneDNN's account beside it."""

    def __init__(self):
        super().__init__(START, STOP, self.mark)
        self.marks_steps = True
        self.account = onednn.StandingAccount(lambda: raw.scratch("onednn"))
        self.reads_onednn = onednn.request_timestamps()

    def mark(self, number):
        """Return the mark of a step, in the form that the profiler's own tools know."""
        return trace.Trace("train", step_num=number, _r=1) if self.marks_steps else contextlib.nullcontext()

    def runtime_starts(self):
        """Just before TensorFlow's first operation: oneDNN reads its switches at its first use."""
        if self.reads_onednn:
            try:
                self.account.open()
            except (OSError, AttributeError) as error:
                self.problems.append(f"oneDNN's own account could not be recorded: {error}")

    def prepare(self):
        """On a GPU, have CUPTI loaded before it counts."""
        if tf.config.list_physical_devices("GPU"):
            profiler_v2.warmup()

    def start(self):
        """Record from here on."""
        self.account.start()
        super().start()

    def stop(self):
        """Stop recording; returns oneDNN's log as [(path, suffix)], empty where it ran nothing."""
        super().stop()
        path = raw.scratch("log")
        return [(path, "onednn.log")] if self.account.stop(path) else []


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None
        self.functions = weakref.WeakSet()
        self.layers = {}

    def see_call(self, function, arguments):
        """The arguments of an outermost function: tensors, or an iterator over them."""
        if self.model.input is None:
            specs = [getattr(argument, "element_spec", argument) for argument in arguments]
            self.model.see_arguments(specs)

    @property
    def runs_ahead(self):
        """Whether the program goes on while a device computes."""
        return bool(tf.config.list_physical_devices("GPU"))

    def synchronize(self):
        """Wait for what the program has given to a GPU."""
        if self.runs_ahead:
            tf.test.experimental.sync_devices()

    def see_job(self):
        """Rank and size of the job."""
        self.rank, self.world_size = ranks.launched()

    def collect(self, logs):
        """All of it as one dictionary; `logs` are (path, suffix) of the logs beside the trace."""
        facts = raw.process_facts()
        gpus = tf.config.list_physical_devices("GPU")
        facts.update(
            framework="tensorflow",
            framework_version=tf.__version__,
            onednn_version=next((onednn.version(path) for path, _ in logs), None),
            device="cuda" if gpus else "cpu",
            devices=[_device_name(gpu) for gpu in gpus] or [facts["cpu"]],
            # 0: as many as there are cores
            threads=tf.config.threading.get_intra_op_parallelism_threads(),
            interop_threads=tf.config.threading.get_inter_op_parallelism_threads(),
            flags={
                "jit": tf.config.optimizer.get_jit(),
                "tf32": tf.config.experimental.tensor_float_32_execution_enabled(),
                "onednn": _has_onednn(),
                "cuda_version": tf.sysconfig.get_build_info().get("cuda_version"),
                "cudnn_version": tf.sysconfig.get_build_info().get("cudnn_version"),
            },
            model=self.model.facts(),
            layers=self.layers,
            convolutions=convolutions(list(self.functions), self.model.batch),
            lines=lines(list(self.functions)) if raw.options()["stacks"] else {},
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


def _has_onednn():
    """Whether oneDNN is on in this process, by TensorFlow's own account: its default depends on the processor."""
    with contextlib.suppress(ImportError, AttributeError):
        from tensorflow.python.util import _pywrap_util_port

        return _pywrap_util_port.IsMklEnabled()
    return None


def _device_name(gpu):
    return tf.config.experimental.get_device_details(gpu).get("device_name", gpu.name)


def install():
    """Hook the one recorder of this process into TensorFlow; called once, when the program has imported it."""
    recorder = TensorflowRecorder()
    follow_functions(recorder)
    follow_training(recorder)
    follow_start_of_runtime(recorder)
    make_room_for_own_profiler(recorder)
    PROCESS.follow(recorder)


def follow_functions(recorder):
    """Be told of the calls of every `tf.function`."""
    call = polymorphic_function.Function.__call__

    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if recorder.is_over or not recorder.enter(self, (*args, *kwargs.values())):
            return call(self, *args, **kwargs)
        try:
            result = call(self, *args, **kwargs)
            if recorder.times is not None:
                recorder.times.see_result(result)
            return result
        finally:
            recorder.leave(self)

    polymorphic_function.Function.__call__ = called


def follow_training(recorder):
    """Be told of gradients, of the variables they are for, and of TensorFlow's own optimizers."""
    enter, leave, apply = (
        backprop.GradientTape.__enter__,
        backprop.GradientTape.__exit__,
        training.Optimizer.apply_gradients,
    )

    @functools.wraps(enter)
    def entered(self):
        recorder.tape()
        return enter(self)

    @functools.wraps(leave)
    def left(self, *error):
        leave(self, *error)
        if not recorder.is_over:
            with contextlib.suppress(Exception):
                recorder.facts.model.see_variables(self.watched_variables())

    @functools.wraps(apply)
    def applied(self, *args, **kwargs):
        result = apply(self, *args, **kwargs)
        recorder.applied(self)
        return result

    backprop.GradientTape.__enter__, backprop.GradientTape.__exit__ = entered, left
    training.Optimizer.apply_gradients = applied


def follow_start_of_runtime(recorder):
    """Be told once, just before the first operation."""
    start = context.Context.ensure_initialized

    @functools.wraps(start)
    def started(self):
        if context.Context.ensure_initialized is started:
            context.Context.ensure_initialized = start
            recorder.tool.runtime_starts()
        return start(self)

    context.Context.ensure_initialized = started


def make_room_for_own_profiler(recorder):
    """There is one profiler at a time: when the program starts its own, ours ends before."""

    @functools.wraps(START)
    def start(*args, **kwargs):
        recorder.yield_to_own_profiler()
        return START(*args, **kwargs)

    profiler_v2.start = tf.profiler.experimental.start = start
    make = trace.Trace.__init__

    @functools.wraps(make)
    def made(self, name, **kwargs):
        if "step_num" in kwargs and not (name == "train" and kwargs.get("_r") and recorder.tool.marks_steps):
            recorder.marked()
        make(self, name, **kwargs)

    trace.Trace.__init__ = made
