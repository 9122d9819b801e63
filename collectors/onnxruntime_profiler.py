"""Records some runs of an unmodified ONNX Runtime program with ONNX Runtime's own profiler.

Under `traceview collect -- python infer.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python infer.py

`inject/sitecustomize.py` calls `install` when the program has imported onnxruntime; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.onnxruntime.json` and
`rank-NNNN.meta.json`. Beside a framework that trains in the same process, that one is recorded.

A step is a `run` of the first session that is made. Its profiler can only be turned on where a session is made, so it
runs from there to the end of the last recorded run; the runs before the first recorded one are left out of the trace.
A session that the program itself profiles is the program's.

Invariant: the program behaves as without us; see `traceview_inject.recorder`.
"""

import functools
import json
import tempfile
import weakref
from pathlib import Path

import onnxruntime
from traceview_inject import raw
from traceview_inject.model import Model
from traceview_inject.python import now_ns
from traceview_inject.recorder import PROCESS, Recorder, safely
from traceview_inject.steps import FORWARD

FRAMEWORK = "onnxruntime"

# A clock that counts from 1970 is above this, one that counts from the machine's start is below.
SINCE_1970_NS = 10**17
RUNS = ("run", "run_with_iobinding", "run_with_ort_values")


class OnnxruntimeRecorder(Recorder):
    """Follows the runs of the first session."""

    def __init__(self):
        super().__init__("onnxruntime", Profiler(), Facts())
        # Its profiler runs from the start: runs before the recording tell nothing of those without it.
        self.since = self.first
        self.depth = 0

    def collect(self, logs):
        """The facts of this rank, with the zero of its trace's clock, which the trace itself does not say."""
        return {**super().collect(logs), "zero_unix_ns": self.tool.zero_unix_ns()}

    @safely
    def made(self, session):
        """A session was made with its profiler on."""
        self.tool.session = weakref.ref(session)
        self.facts.see_session(session)

    @safely
    def begins(self):
        """A run begins, and a step with it: what the program does between two runs is in none."""
        self.begin()
        self.steps.begins[-1] = now_ns()

    @safely
    def ran(self, session, feed):
        """A run of a session returned."""
        if self.tool.session() is session:
            self.facts.model.see_arguments([feed])
            self.step_ended(FORWARD, session)


class Profiler:
    """The profiler of one session; `prefix` is where it writes."""

    def __init__(self):
        self.problems = []
        self.session = lambda: None
        self.prefix = None
        self.path = None
        self.first = 0
        self.start_ns = 0

    def claim(self, options):
        """Turn the profiler of a session to come on; returns whether it was free."""
        if options.enable_profiling or self.prefix is not None:
            return False
        # What a program that is ended before it wrote its trace leaves behind here is cleared away with the capture.
        self.prefix = tempfile.mkdtemp(prefix=".onnxruntime-", dir=str(raw.folder()))
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(self.prefix, "profile"))
        return True

    def prepare(self):
        """Nothing: the profiler runs."""

    def start(self):
        """Nothing: what was before is left out when it is written."""

    def open_step(self, number):
        """Runs are marked by the profiler itself."""
        return Unmarked()

    def stop(self):
        """Stop the session's profiler; there are no logs."""
        session = self.session()
        if session is None:
            raise RuntimeError("the session was deleted while it was recorded")
        self.path, self.start_ns = Path(session.end_profiling()), session.get_profiling_start_time_ns()
        return []

    def zero_unix_ns(self):
        """When the session's profiler was started; None where it was not, or its clock does not count from 1970."""
        return self.start_ns if self.start_ns > SINCE_1970_NS else None

    def write(self, cut_step=None):
        """The trace without the runs before the first recorded one, as (path, suffix)."""
        events = json.loads(self.path.read_text(encoding="utf-8"))
        runs = sorted(event["ts"] for event in events if event.get("name") == "model_run")
        if len(runs) > self.first:
            last_dropped = [
                event for event in events if event.get("name") == "model_run" and event["ts"] < runs[self.first]
            ]
            begin = min((event["ts"] for event in last_dropped), default=0)
            end = max((event["ts"] + event["dur"] for event in last_dropped), default=0)
            events = [event for event in events if not begin <= event.get("ts", -1) < end]
        path = raw.scratch("onnxruntime")
        lines = ",\n".join(json.dumps(event, separators=(",", " : ")) for event in events)
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        self.clean()
        return path, "onnxruntime.json"

    def clean(self):
        """Remove the session's own file."""
        if self.prefix is not None:
            for path in Path(self.prefix).glob("*"):
                path.unlink()
            Path(self.prefix).rmdir()
            self.prefix = ""

    def forget(self):
        """In a forked child: the recording is the parent's."""
        self.session = lambda: None


class Unmarked:
    """A step without a range of ours."""

    def close(self):
        """Nothing to close."""


class Facts:
    """Collects what `rank-NNNN.meta.json` says."""

    def __init__(self):
        self.model = Model()
        self.warnings = []
        self.rank = self.world_size = None
        self.about = {}

    def see_session(self, session):
        """Providers, options and the graph's name."""
        options = session.get_session_options()
        self.model.name = session.get_modelmeta().graph_name or None
        self.about = {
            "providers": session.get_providers(),
            "graph_optimization_level": options.graph_optimization_level.name,
            "execution_mode": options.execution_mode.name,
            "threads": options.intra_op_num_threads,
            "interop_threads": options.inter_op_num_threads,
        }

    def see_job(self):
        """Inference has no ranks."""

    def collect(self, logs):
        """All of it as one dictionary."""
        facts = raw.process_facts()
        about = dict(self.about)
        is_gpu = any(name.startswith(("CUDA", "Tensorrt", "ROCM", "MIGraphX")) for name in about.get("providers", ()))
        facts.update(
            framework="onnxruntime",
            framework_version=onnxruntime.__version__,
            device="cuda" if is_gpu else "cpu",
            devices=[facts["cpu"]],
            # 0: as many as there are cores
            threads=about.pop("threads", None),
            interop_threads=about.pop("interop_threads", None),
            flags=about,
            model=self.model.facts(),
            world_size=1,
            warnings=self.warnings,
        )
        return facts


def install():
    """Hook the one recorder of this process into ONNX Runtime; called once, when the program has imported it."""
    recorder = OnnxruntimeRecorder()
    recorder.tool.first = recorder.first
    session = onnxruntime.InferenceSession
    follow_making(recorder, session)
    for name in RUNS:
        setattr(session, name, followed(recorder, getattr(session, name)))
    PROCESS.follow(recorder)


def follow_making(recorder, session_class):
    """Turn the profiler on in the first session that is made; not where steps are only timed."""
    make = session_class.__init__

    @functools.wraps(make)
    def made(self, path_or_bytes, sess_options=None, *args, **kwargs):
        options = sess_options
        if type(self) is session_class and recorder.times is not None:
            make(self, path_or_bytes, sess_options, *args, **kwargs)
            if recorder.tool.session() is None:
                recorder.made(self)
            return
        if type(self) is session_class and not recorder.is_over:
            options = sess_options or onnxruntime.SessionOptions()
            if recorder.tool.claim(options):
                try:
                    make(self, path_or_bytes, options, *args, **kwargs)
                finally:
                    options.enable_profiling = False  # The program may make its next session with the same options.
                recorder.made(self)
                return
        make(self, path_or_bytes, sess_options, *args, **kwargs)

    session_class.__init__ = made


def followed(recorder, run):
    """`run` of a session, each call of the first session a step."""

    @functools.wraps(run)
    def call(self, *args, **kwargs):
        if recorder.is_over or recorder.tool.session() is not self:
            return run(self, *args, **kwargs)
        recorder.begins()
        result = run(self, *args, **kwargs)
        recorder.ran(self, (*args, *kwargs.values()))
        return result

    return call
