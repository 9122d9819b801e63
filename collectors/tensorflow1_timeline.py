"""Records some training steps of an unmodified TensorFlow 1 program: the timelines of its session runs.

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported tensorflow and that is version 1; options are
described in `traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.timeline.json` and
`rank-NNNN.meta.json`.

A step ends with the first session run that computes gradients, also where Keras makes it; in a program that trains
nothing, with the first run that fetches a value. For the recorded steps every run of a session is traced in full
(RunMetadata), and convolutions get their shapes; a run that the program itself traces ends the recording.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import functools
import json
import re
import time

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as sessions
from tensorflow.python.client import timeline
from traceview_inject import raw
from traceview_inject.recorder import PROCESS, RECORDING, Recorder, safely
from traceview_inject.steps import FORWARD, OPTIMIZER
from traceview_inject.tensorflow1_facts import Facts
from traceview_inject.tensorflow1_shapes import convolutions

FRAMEWORK = "tensorflow>=1"

RUN = sessions.BaseSession.run
FULL_TRACE = config_pb2.RunOptions.FULL_TRACE
TRAINS = re.compile(r"(^|/)gradients(_\d+)?/")


class SessionRecorder(Recorder):
    """Follows the runs of sessions."""

    def __init__(self):
        super().__init__("tensorflow", Timelines(), Facts())
        self.kinds = {}

    @safely
    def enter(self, graph, operations, session):
        """A run that computes these operations begins; returns what is known of such runs."""
        key = (id(graph), tuple(operation.name for operation in operations))
        if key not in self.kinds:
            self.kinds[key] = Kind(graph, operations)
        kind = self.kinds[key]
        if kind.trains:
            self.prefer(OPTIMIZER)
        self.begin()
        self.facts.see_session(session, graph)
        return kind

    @safely
    def leave(self, kind, traced, values):
        """Note that the run is over: `traced` holds its trace, `values` were fed to it."""
        if traced is not None and self.state == RECORDING:
            self.tool.runs.append(traced)
        kind.n_runs += 1
        # What runs once is preparation.
        if kind.trains or (kind.fetches_values and kind.n_runs > 1):
            self.facts.model.see_arguments(values)
            self.unit_ended(OPTIMIZER if kind.trains else FORWARD, kind)
        else:
            self.passed(kind)

    def is_tracing(self):
        """Whether a run is to be traced."""
        return self.state == RECORDING


class Kind:
    """Runs of the same operations of a graph: what they do is worked out once."""

    def __init__(self, graph, operations):
        self.n_runs = 0
        self.graph = graph  # Kept, so that no other graph gets its id.
        self.fetches_values = any(operation.outputs for operation in operations)
        seen, left = set(operations), list(operations)
        while left:
            operation = left.pop()
            above = {tensor.op for tensor in operation.inputs}.union(operation.control_inputs) - seen
            seen |= above
            left += above
        self.trains = any(TRAINS.search(operation.name) for operation in seen)


class Timelines:
    """The traces of the recorded runs, and the steps around them."""

    def __init__(self):
        self.problems = []
        self.runs, self.steps = [], []

    def prepare(self):
        """Nothing: a run is traced when it is told to."""

    def start(self):
        """Nothing: as above."""

    def open_step(self, number):
        """The range of a step, open."""
        return OpenStep(self.steps, number)

    def stop(self):
        """Nothing runs on; there are no logs."""
        return []

    def write(self, cut_step=None):
        """The traces as one timeline, as (path, suffix)."""
        processes, events = {}, []
        for run in self.runs:
            made = timeline.Timeline(run.step_stats).generate_chrome_trace_format(show_dataflow=False)
            shapes = convolutions(run)
            for event in renumbered(json.loads(made)["traceEvents"], processes):
                event["args"].update(shapes.get(event["args"].get("name"), {}))
                events.append(event)
        names = [
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": label}} for label, pid in processes.items()
        ]
        for name, begin, end in self.steps:
            place = {"pid": len(processes), "tid": 0, "ts": int(1e6 * begin), "dur": int(1e6 * (end - begin))}
            events.append({"ph": "X", "cat": "traceview step", "name": name, "args": {}, **place})
        lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in names + events)
        path = raw.scratch("timeline")
        path.write_text(f'{{"traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")
        return path, "timeline.json"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.runs = []


class OpenStep:
    """A step that has begun."""

    def __init__(self, steps, number):
        self.steps, self.name, self.begin = steps, f"step#{number}", time.time()

    def close(self):
        """It ended."""
        self.steps.append((self.name, self.begin, time.time()))


def renumbered(events, processes):
    """The events of one run with the numbers that `processes` gives to processes of their name, which grows."""
    labels = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    kept = []
    for event in events:
        if event["ph"] != "M":
            event["pid"] = processes.setdefault(labels.get(event["pid"], ""), len(processes))
            kept.append(event)
    return kept


def install():
    """Hook the one recorder of this process into TensorFlow; called once, when the program has imported it."""
    recorder = SessionRecorder()
    sessions.BaseSession.run = followed(recorder)
    follow_callables(recorder)
    PROCESS.follow(recorder)


def followed(recorder):
    """`run` of a session, told to the recorder."""

    @functools.wraps(RUN)
    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if recorder.is_over:
            return RUN(self, fetches, feed_dict, options, run_metadata)
        kind = recorder.enter(self.graph, operations_of(recorder, self, fetches), self)
        if kind is not None and options is not None and options.trace_level and recorder.is_tracing():
            recorder.finish("the program's own trace of a run")
        traced = None
        if kind is not None and recorder.is_tracing():
            given, options = options, config_pb2.RunOptions()
            if given is not None:
                options.CopyFrom(given)
            trace(options)
            # Hooked sessions give one with every run.
            traced = run_metadata = run_metadata or config_pb2.RunMetadata()
        result = RUN(self, fetches, feed_dict, options, run_metadata)
        if kind is not None:
            recorder.leave(kind, traced, list((feed_dict or {}).values()))
        return result

    return run


def trace(options):
    """Have a run traced in full, with the graph that it really runs: the optimizer's."""
    options.trace_level = FULL_TRACE
    options.output_partition_graphs = True


def operations_of(recorder, session, fetches):
    """The operations that a run of `fetches` is for; none where that cannot be said, which the run itself will say."""
    try:
        handler = sessions._FetchHandler(session.graph, fetches, {})
    except (TypeError, ValueError, KeyError):
        return []
    return [tensor.op for tensor in handler.fetches()] + list(handler.targets())


def follow_callables(recorder):
    """Be told of the runs that Keras has made ready beforehand, and have them made ready once more to be traced."""
    make = sessions.BaseSession._make_callable_from_options

    @functools.wraps(make)
    def made(self, callable_options):
        return Followed(recorder, self, make, callable_options)

    sessions.BaseSession._make_callable_from_options = made


class Followed:
    """A callable of a session, and its traced twin, which is made where it is needed."""

    def __init__(self, recorder, session, make, options):
        self.recorder, self.session, self.make = recorder, session, make
        self.options = config_pb2.CallableOptions()
        self.options.CopyFrom(options)
        self.is_own = bool(options.run_options.trace_level)
        self.bare, self.traced = make(session, options), None
        self.operations = None

    def __getattr__(self, name):
        return getattr(self.bare, name)

    def __call__(self, *args, **kwargs):
        """Run it."""
        recorder = self.recorder
        if recorder.is_over:
            return self.bare(*args, **kwargs)
        graph = self.session.graph
        if self.operations is None:
            names = [*self.options.fetch, *self.options.target]
            self.operations = [graph.as_graph_element(name.partition(":")[0]) for name in names]
        kind = recorder.enter(graph, self.operations, self.session)
        if kind is not None and self.is_own and recorder.is_tracing():
            recorder.finish("the program's own trace of a run")
        traced, run = None, self.bare
        if kind is not None and recorder.is_tracing():
            if self.traced is None:
                trace(self.options.run_options)
                self.traced = self.make(self.session, self.options)
            run = self.traced
            traced = kwargs["run_metadata"] = kwargs.get("run_metadata") or config_pb2.RunMetadata()
        result = run(*args, **kwargs)
        if kind is not None:
            recorder.leave(kind, traced, list(args))
        return result


assert tf.__version__.startswith("1.")
