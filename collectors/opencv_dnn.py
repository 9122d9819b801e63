"""Records some runs of a network by an unmodified OpenCV 4 program with OpenCV's own timing of layers.

OpenCV 4 reads Caffe's models, which nothing else of today runs; what it computes is the forward pass alone.

Under `traceview collect -- python infer.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python infer.py

`inject/sitecustomize.py` calls `install` when the program has imported cv2; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.opencv.txt` and
`rank-NNNN.meta.json`.

A step is a `forward` of the first network that a program runs. The text has a line per recorded step and one per layer
of it, with tabs between the fields, in nanoseconds: `traceview-opencv step NUMBER START END` (since 1970) and
`traceview-opencv layer NUMBER NAME TYPE TIME`, the time as `getPerfProfile` gives it. A layer of time zero was fused
into another one or did nothing.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import functools

import cv2
from traceview_inject import raw
from traceview_inject.model import Model
from traceview_inject.python import unix_ns
from traceview_inject.recorder import PROCESS, Recorder, safely
from traceview_inject.steps import FORWARD

FRAMEWORK = "cv2"

OURS = "traceview-opencv"
NS_PER_S = 1e9
RUNS = ("forward", "forwardAndRetrieve")


class OpencvRecorder(Recorder):
    """Follows the runs of the first network."""

    def __init__(self):
        super().__init__("opencv", Layers(), Facts())

    @safely
    def enter(self, network):
        """A run begins; returns whether it is one of the first network."""
        if self.framework not in PROCESS.recorders:
            PROCESS.follow(self)  # Most programs that import OpenCV run no network with it.
        self.facts.see(network)
        if self.facts.network is not network:
            return False
        self.begin()
        self.tool.begins()
        return True

    @safely
    def fed(self, values):
        """A network is given its input."""
        self.facts.model.see_arguments(values)

    @safely
    def leave(self, network):
        """Note that the run is over."""
        self.tool.ran(network)
        self.step_ended(FORWARD, self.facts)  # There are no weak references to a network; it is always the same one.


class Layers:
    """OpenCV times its layers always: here the times are only read after each recorded run."""

    def __init__(self):
        self.problems = []
        self.lines, self.step, self.is_on = [], None, False

    def prepare(self):
        """Nothing: OpenCV is ready."""

    def start(self):
        """Keep what is timed from here on."""
        self.lines, self.is_on = [], True

    def open_step(self, number):
        """A step, open."""
        self.step = Step(number)
        return self.step

    def begins(self):
        """A run begins; what is between the run before and this one is not a time of a step."""
        if self.step is not None:
            self.step.start = unix_ns()

    def ran(self, network):
        """Note a run that is over, before its step is closed."""
        if not self.is_on or self.step is None:
            return
        end = unix_ns()
        _, ticks = network.getPerfProfile()
        self.lines.append([OURS, "step", self.step.number, self.step.start, end])
        frequency = cv2.getTickFrequency()
        for name, time in zip(network.getLayerNames(), ticks.ravel().tolist()):
            kind = network.getLayer(network.getLayerId(name)).type
            self.lines.append([OURS, "layer", self.step.number, name, kind, round(NS_PER_S * time / frequency)])

    def stop(self):
        """Stop; there are no logs."""
        self.is_on = False
        return []

    def write(self, cut_step=None):
        """The lines, as (path, suffix)."""
        path = raw.scratch("opencv")
        text = "".join("\t".join(" ".join(str(field).split()) for field in line) + "\n" for line in self.lines)
        path.write_text(text, encoding="utf-8")
        return path, "opencv.txt"

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.lines, self.is_on = [], False


class Step:
    """An open step."""

    def __init__(self, number):
        self.number, self.start = number, None

    def close(self):
        """Nothing: `Layers.ran` has noted its end."""


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None
        self.network = None

    def see(self, network):
        """The first network that runs."""
        if self.network is None:
            self.network = network

    def see_job(self):
        """Inference has no ranks."""

    def see_weights(self):
        """Sizes of the weights of the network, layer by layer."""
        blobs = []
        for name in self.network.getLayerNames():
            blobs += self.network.getLayer(self.network.getLayerId(name)).blobs
        self.model.see_variables(blobs)
        self.network = None  # It is the program's; nothing is seen of it any more.

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        self.see_weights()
        facts.update(
            framework="opencv",
            framework_version=cv2.__version__,
            device="cpu",
            devices=[facts["cpu"]],
            threads=cv2.getNumThreads(),
            flags={"optimized": cv2.useOptimized()},
            model=self.model.facts(),
            world_size=1,
            warnings=self.warnings,
        )
        return facts


def install():
    """Hook the one recorder of this process into OpenCV's networks; called once, when the program has imported cv2."""
    recorder = OpencvRecorder()
    for name in RUNS:
        run = getattr(cv2.dnn.Net, name)
        setattr(cv2.dnn.Net, name, followed(recorder, run))
    cv2.dnn.Net.setInput = with_input(recorder, cv2.dnn.Net.setInput)


def followed(recorder, run):
    """`run` of a network, each call of the first network a step."""

    @functools.wraps(run)
    def call(self, *args, **kwargs):
        if recorder.is_over or not recorder.enter(self):
            return run(self, *args, **kwargs)
        result = run(self, *args, **kwargs)
        recorder.leave(self)
        return result

    return call


def with_input(recorder, set_input):
    """`setInput` of a network; the first thing that a network is fed is the model's input."""

    @functools.wraps(set_input)
    def call(self, *args, **kwargs):
        if not recorder.is_over:
            recorder.fed((*args, *kwargs.values()))
        return set_input(self, *args, **kwargs)

    return call
