"""Records some training steps of an unmodified Theano program: how long each operator of its functions took.

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported theano; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.operators.json` and
`rank-NNNN.meta.json`.

Theano's virtual machine measures each operator when it is told to, also in a function that is compiled already; it
measures how long and not when. So the operators of a call are laid end to end from the call's measured start, in the
order of the compiled graph. A step ends with the first call of a function that updates floating point variables; in a
program that trains nothing, with the first function that is called again.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import functools
import json
import weakref

from theano.compile.function_module import Function
from traceview_inject import raw
from traceview_inject.model import shape_of
from traceview_inject.python import unix_ns
from traceview_inject.recorder import PREPARED, PROCESS, RECORDING, Recorder, safely
from traceview_inject.steps import FORWARD, OPTIMIZER
from traceview_inject.theano_facts import Facts, trains
from traceview_inject.theano_graph import Operators, shapes_of

FRAMEWORK = "theano"

CALL = Function.__call__
CLOCK = "operators' durations are measured, their starts are not: they are laid end to end from the start of their call"


class TheanoRecorder(Recorder):
    """Follows the calls of compiled functions."""

    def __init__(self):
        super().__init__("theano", Times(), Facts())
        self.kinds = weakref.WeakKeyDictionary()
        self.is_inside = False

    @safely
    def enter(self, function):
        """A function is called; returns what is known of it, None inside of another's call."""
        if self.is_inside:
            return None
        self.is_inside = True
        if function not in self.kinds:
            self.kinds[function] = Kind(function)
        kind = self.kinds[function]
        if kind.trains:
            self.prefer(OPTIMIZER)
            self.facts.see_function(function)
        self.begin()
        if self.state == PREPARED and not self.options["light"]:
            kind.keep_shapes()
        if self.state == RECORDING:
            kind.measure()
        return kind

    @safely
    def leave(self, kind, function, arguments, begin, end):
        """It returned."""
        self.is_inside = False
        kind.n_calls += 1
        if self.state == RECORDING:
            self.tool.calls.append((kind, begin, end, kind.measured()))
        kind.release()
        kind.see_arguments(arguments)
        # What runs once is preparation.
        if kind.trains or kind.n_calls > 1:
            self.facts.model.see_arguments(arguments)
            self.unit_ended(OPTIMIZER if kind.trains else FORWARD, function)
        else:
            self.passed(function)

    @safely
    def failed(self, kind):
        """It raised an error of the program's."""
        self.is_inside = False
        kind.release()


class Kind:
    """A compiled function: its virtual machine, and what is known of its operators."""

    def __init__(self, function):
        self.machine, self.name, self.profile = function.fn, function.name, function.profile
        self.graph, self.inputs = function.maker.fgraph, function.maker.inputs
        self.n_calls = 0
        self.trains = trains(function)
        self.shapes = {}
        self.is_keeping, self.before = False, None

    def keep_shapes(self):
        """Have the next call keep its results, so that their shapes can be seen; once."""
        if not self.shapes and getattr(self.machine, "allow_gc", False):
            self.machine.allow_gc, self.is_keeping = False, True

    def see_arguments(self, arguments):
        """The shapes of what the program passed, which Theano lets go at once."""
        if self.shapes:
            given = [variable for variable, spec in zip(self.graph.inputs, self.inputs) if not spec.implicit]
            for variable, argument in zip(given, arguments):
                if shape_of(argument):
                    self.shapes.setdefault(variable, [int(size) for size in shape_of(argument)])

    def measure(self):
        """Have the next call measure its operators. Raises RuntimeError where it cannot."""
        if not hasattr(self.machine, "time_thunks"):
            raise RuntimeError("a function was compiled with a linker that measures nothing (cvm and vm do)")
        self.is_timed, self.machine.time_thunks = bool(self.machine.time_thunks), True
        self.before = self.seconds()

    def seconds(self):
        """Seconds that each operator took so far; a program's own profile takes them over after every call."""
        if self.profile:
            return [self.profile.apply_time.get(node, 0.0) for node in self.machine.nodes]
        return list(self.machine.call_times)

    def measured(self):
        """Seconds that each operator took in the last call."""
        return [] if self.before is None else [after - before for before, after in zip(self.before, self.seconds())]

    def release(self):
        """Leave the machine as it was."""
        if self.is_keeping:
            self.machine.allow_gc, self.is_keeping = True, False
            self.shapes = shapes_of(self.machine, self.graph)
        if self.before is not None and not self.is_timed:
            self.machine.time_thunks = False
            self.machine.call_times[:] = [0.0] * len(self.before)
            self.machine.call_counts[:] = [0] * len(self.before)
        self.before = None


class Times:
    """The measured calls, and the steps around them."""

    def __init__(self):
        self.problems = []
        self.calls, self.steps = [], []

    def prepare(self):
        """Nothing: a call is measured when it is told to."""

    def start(self):
        """Nothing: as above."""

    def open_step(self, number):
        """The range of a step, open."""
        return OpenStep(self.steps, number)

    def stop(self):
        """Nothing runs on; there are no logs."""
        return []

    def write(self, cut_step=None):
        """The calls as trace events, as (path, suffix)."""
        events = [span("step", name, begin, end) for name, begin, end in self.steps]
        known = {}
        for kind, begin, end, seconds in self.calls:
            events.append(span("call", kind.name or "function", begin, end))
            if kind not in known:
                known[kind] = Operators(kind.machine.nodes, kind.graph, kind.shapes).described()
            events += laid_out(begin, known[kind], seconds)
        path = raw.scratch("operators")
        lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
        head = json.dumps({"framework": "Theano", "tool": "Theano's virtual machine", "clock": CLOCK})
        path.write_text(f'{{"traceviewOperators": {head},\n"traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")
        return path, "operators.json"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.calls = []


class OpenStep:
    """A step that has begun."""

    def __init__(self, steps, number):
        self.steps, self.name, self.begin = steps, f"step#{number}", unix_ns()

    def close(self):
        """It ended."""
        self.steps.append((self.name, self.begin, unix_ns()))


def laid_out(begin, operators, seconds):
    """The operators of a call that began at `begin`, one after the other, and the passes around them."""
    events, passes = [], []
    at = begin
    for (name, phase, facts), duration in zip(operators, seconds):
        end = at + int(1e9 * duration)
        if end > at:
            events.append(span("operator", name, at, end, facts))
            if not passes or passes[-1][0] != phase:
                passes.append([phase, at, end])
            passes[-1][2] = at = end
    return events + [span("phase", *each) for each in passes]


def span(category, name, begin, end, facts=None):
    """A trace event; nanoseconds become text of microseconds, which a number would cut."""
    event = {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 0}
    for key, ns in (("ts", begin), ("dur", end - begin)):
        event[key] = f"{ns // 1000}.{ns % 1000:03}"
    if facts:
        event["args"] = facts
    return event


def install():
    """Hook the one recorder of this process into Theano; called once, when the program has imported it."""
    recorder = TheanoRecorder()

    @functools.wraps(CALL)
    def call(self, *args, **kwargs):
        kind = None if recorder.is_over else recorder.enter(self)
        if kind is None:
            return CALL(self, *args, **kwargs)
        begin, is_whole = unix_ns(), False
        try:
            result = CALL(self, *args, **kwargs)
            is_whole = True
            return result
        finally:
            if is_whole:
                recorder.leave(kind, self, args, begin, unix_ns())
            else:
                recorder.failed(kind)

    Function.__call__ = call
    PROCESS.follow(recorder)
