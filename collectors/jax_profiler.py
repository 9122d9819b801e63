"""Records some training steps of an unmodified JAX program with JAX' profiler (XPlane, with the compiled HLO inside).

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported jax; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.xplane.pb` and
`rank-NNNN.meta.json`.

A step ends with a compiled function (`jax.jit` or `jax.pmap`, called from outside of any other) that gives back what
it was given: a state, that is at least two arrays in the same structure, with parameters that it computed: Flax'
`nnx.jit` gives a model that is only evaluated back, too, as it was. In a program without one a step ends with the first
compiled function that is called again, also under `jax.grad`. A program's own marks
(`jax.profiler.StepTraceAnnotation`) or its own word (`import sys; sys.audit("traceview.step")`) count more. Steps are
marked as `train`, unless the program marks its own. Layers are the program's `jax.named_scope`s, which stand in the
operators' names.

Invariant: the program behaves as without us; see `traceview_inject.recorder`. There is one exception: on a CPU,
where JAX runs ahead of its computations, steps wait for their results until the last that is timed: else those of one
step would lie in the next, and the steps around the recording could not be timed.
"""

import contextlib
import functools
import math
import os
import sys
import threading
import weakref

import jax
from jax._src import core as jax_core
from jax._src import profiler as jax_profiler
from traceview_inject import raw, times
from traceview_inject.model import Model, shape_of
from traceview_inject.recorder import PROCESS, RECORDING, Recorder, safely
from traceview_inject.steps import FORWARD, OPTIMIZER
from traceview_inject.xplane import Xplane

FRAMEWORK = "jax"

# Older versions do not tell `jax.grad` from a function that is compiled: there calls under it end no step.
is_compiling = getattr(jax_core, "unsafe_am_i_under_a_jit", lambda: not jax_core.trace_state_clean())
START, STOP = jax_profiler.start_trace, jax_profiler.stop_trace
# A state has at least a weight and a bias.
LEAVES_OF_A_STATE = 2


class JaxRecorder(Recorder):
    """Follows the program's outermost compiled functions."""

    def __init__(self):
        super().__init__("jax", Profiler(), Facts())
        self.tool.options = self.options
        self.facts.tool = self.tool
        self.outermost = threading.local()
        self.first_again = None

    @safely
    def enter(self):
        """A function is called; returns whether from outside of any other: it computes, also under `jax.grad`."""
        if getattr(self.outermost, "is_open", False) or is_compiling():
            return False
        self.outermost.is_open = True
        self.begin()
        return True

    @safely
    def leave(self, function, args, kwargs, result):
        """The outermost function returned; `result` is None where it raised."""
        self.outermost.is_open = False
        if function.keeps_state is None and result is not None:
            # A validation of Keras keeps a state of metrics.
            function.keeps_state = not self.is_evaluating and self._is_training(function, args, kwargs, result)
        if not jax_core.trace_state_clean():
            # An array that outlives the call must not do so in what `jax.grad` or `jax.vmap` wraps around it.
            result = jax.tree_util.tree_map(unwrapped, result)
        self.tool.last_result = result
        if jax.default_backend() == "cpu":
            jax.block_until_ready(result)
        if self.times is not None:
            self.times.see_result(result)
        if function.keeps_state:
            self.prefer(OPTIMIZER)
            self.begin()
            self.unit_ended(OPTIMIZER, function)
        elif self._is_called_again(function):
            self.unit_ended(FORWARD, function)
        else:
            self.passed(function)

    def _is_training(self, function, args, kwargs, result):
        arguments, parts = (*args, *kwargs.values()), parts_of(result)
        trained = {id(array) for state in alike(parts, arguments) for array in parameters_of(state)}
        is_training = bool(trained) and any(id(array) in trained for array in computed(function, args, kwargs, result))
        if is_training and self.steps.is_better(OPTIMIZER):
            # It has the facts of an evaluation.
            self.facts.model = Model()
        self.facts.see_call(function, alike(arguments, parts), arguments)
        return is_training

    def _is_called_again(self, function):
        function.calls += 1
        if function.calls > 1 and (self.first_again is None or self.first_again() is None):
            self.first_again = weakref.ref(function)
        return self.first_again is not None and self.first_again() is function

    @safely
    def marked(self):
        """A step that the program marks itself is over."""
        if self.state != RECORDING:
            self.tool.marks_steps = False
        self.called()


class Profiler(Xplane):
    """JAX' profiler."""

    def __init__(self):
        super().__init__(self.start_quietly, STOP, self.mark)
        self.marks_steps = True
        self.last_result = None
        self.options = {}

    def start_quietly(self, folder):
        """Start without Python's own function calls, of which there are very many, unless stacks are wanted."""
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = int(bool(self.options.get("stacks")))
        START(folder, profiler_options=options)

    def mark(self, number):
        """Return the mark of a step, in the form that the profiler's own tools know."""
        if not self.marks_steps:
            return contextlib.nullcontext()
        return jax_profiler.TraceAnnotation("train", step_num=number, _r=1)

    def start(self):
        """Record from here on; work of earlier steps is not to show up in the recorded ones."""
        jax.block_until_ready(self.last_result)
        super().start()

    def stop(self):
        """Stop when the last step's work is done."""
        jax.block_until_ready(self.last_result)
        self.last_result = None
        return super().stop()


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.tool = None
        self.warnings = []
        self.rank = self.world_size = None

    def see_call(self, function, states, arguments):
        """A compiled function returned for the first time: the first state that it kept are the parameters."""
        if states:
            parameters = parameters_of(states[0])
            self.model.name = self.model.name or function.__name__
            rest = [argument for argument in arguments if all(argument is not state for state in states)]
            if function.is_mapped:
                parameters, rest = list(map(of_one_device, parameters)), jax.tree_util.tree_map(of_all, rest)
            self.model.see_variables(parameters)
            self.model.see_arguments(rest)

    @property
    def runs_ahead(self):
        """Whether the program goes on while a device computes; on a CPU its steps wait."""
        return jax.default_backend() != "cpu"

    def synchronize(self):
        """Wait for the last result."""
        jax.block_until_ready(self.tool.last_result)

    def arrays(self):
        """Content and norm of each array of the last result: arrays are never changed, a step returns new ones."""
        leaves = jax.tree_util.tree_leaves(self.tool.last_result)
        return times.numpy_arrays(leaf for leaf in leaves if getattr(leaf, "size", 0) > 1)

    def see_job(self):
        """Rank and size of the job."""
        self.rank = jax.process_index() if jax.process_count() > 1 else None
        self.world_size = jax.process_count()

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        platform = jax.default_backend()
        facts.update(
            framework="jax",
            framework_version=jax.__version__,
            device={"gpu": "cuda"}.get(platform, platform),
            devices=[facts["cpu"]] if platform == "cpu" else [device.device_kind for device in jax.local_devices()],
            # XLA takes as many threads as there are cores, or as the process may use.
            threads=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            flags={
                "matmul_precision": jax.config.jax_default_matmul_precision,
                "x64": jax.config.jax_enable_x64,
            },
            model=self.model.facts(),
            world_size=self.world_size or 1,
            warnings=self.warnings,
        )
        return facts


def parts_of(result):
    """Return a result and its parts; Flax' `nnx.jit` returns all that a function was given as the first of them."""
    parts = result if isinstance(result, (tuple, list)) else ()
    inner = parts[0] if parts and isinstance(parts[0], tuple) else ()
    return (result, *parts, *inner)


def alike(values, others):
    """Return values that are states and that others hold, too: the same structure of arrays of the same shapes."""
    known = {signature(other) for other in others} - {None}
    return [value for value in values if signature(value) in known]


def computed(function, args, kwargs, result):
    """Return arrays of a result but those that the function was given, as its program says, which JAX has at hand."""
    arrays = jax.tree_util.tree_leaves(result)
    if function.is_mapped:  # JAX says nothing of its program.
        return arrays
    program = function.trace(*args, **kwargs).jaxpr.jaxpr
    given = {id(variable) for variable in program.invars}
    return [array for array, variable in zip(arrays, program.outvars) if id(variable) not in given]


def unwrapped(value):
    """Return an array without what `jax.grad` and `jax.vmap` wrap around it."""
    while isinstance(value, jax.core.Tracer):
        value = getattr(value, "primal", getattr(value, "val", None))
    return value


def signature(value):
    """Places and shapes of the arrays of a pytree; None for less than a state. What else a node holds may change."""
    # A state may count steps from a plain 0.
    leaves = [(str(path), shape_of(leaf) or ()) for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]]
    sizes = [shape for _, shape in leaves if math.prod(shape) > 1]
    return tuple(leaves) if len(sizes) >= LEAVES_OF_A_STATE else None


def parameters_of(state):
    """Arrays of a state that are trained, as far as it says: optimizers keep copies of them, layers what they count."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None:
        leaves = jax.tree_util.tree_leaves(state, is_leaf=lambda leaf: isinstance(leaf, nnx.Variable))
        trained = jax.tree_util.tree_leaves([leaf for leaf in leaves if isinstance(leaf, nnx.Param)])
        if trained:
            return trained
    return jax.tree_util.tree_leaves(getattr(state, "params", state))


def of_one_device(array):
    """Shape of an array that `jax.pmap` divides among devices, as each of them has it."""
    shape = shape_of(array)
    return jax.ShapeDtypeStruct(shape[1:], array.dtype) if shape else array


def of_all(array):
    """Shape of an array that `jax.pmap` divides among devices, without its axis of devices."""
    shape = shape_of(array)
    return jax.ShapeDtypeStruct((math.prod(shape[:2]), *shape[2:]), array.dtype) if shape else array


class Followed:
    """A compiled function that tells the recorder of its calls; in all else it is the function."""

    def __init__(self, function, recorder, is_mapped):
        # A function made of a followed one has its fields, too.
        functools.update_wrapper(self, function)
        self.__dict__.update(function=function, recorder=recorder, is_mapped=is_mapped, keeps_state=None, calls=0)

    def __call__(self, *args, **kwargs):
        if self.recorder.is_over or not self.recorder.enter():
            return self.function(*args, **kwargs)
        result = None
        try:
            result = self.function(*args, **kwargs)
            return result
        finally:
            self.recorder.leave(self, args, kwargs, result)

    def __getattr__(self, name):
        return getattr(self.function, name)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return repr(self.function)

    def __reduce__(self):
        return self.function.__reduce__()


def install():
    """Hook the one recorder of this process into JAX; called once, when the program has imported it."""
    recorder = JaxRecorder()
    follow_functions(recorder)
    follow_marks(recorder)
    make_room_for_own_profiler(recorder)
    PROCESS.follow(recorder)


def follow_functions(recorder):
    """Be told of the calls of every function that is compiled from here on."""
    jax.jit, jax.pmap = followed(jax.jit, recorder), followed(jax.pmap, recorder, is_mapped=True)


def followed(make, recorder, is_mapped=False):
    """`make`, which compiles functions, on all devices where it is `jax.pmap`; the recorder is told of their calls."""

    @functools.wraps(make)
    def compiled(*args, **kwargs):
        made = make(*args, **kwargs)
        if hasattr(made, "lower"):
            return Followed(made, recorder, is_mapped)
        # Without a function it makes a decorator.
        return lambda function: Followed(made(function), recorder, is_mapped)

    return compiled


def follow_marks(recorder):
    """Be told where the program marks its own steps."""
    mark = jax_profiler.StepTraceAnnotation

    def leave(self, *error):
        result = super(mark, self).__exit__(*error)
        recorder.marked()
        return result

    mark.__exit__ = leave


def make_room_for_own_profiler(recorder):
    """There is one profiler at a time: when the program starts its own, ours ends before."""

    @functools.wraps(START)
    def start_trace(*args, **kwargs):
        recorder.yield_to_own_profiler()
        return START(*args, **kwargs)

    jax_profiler.start_trace = jax.profiler.start_trace = start_trace
