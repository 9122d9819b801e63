"""Records some training steps of an unmodified PyTorch 2.x program with torch.profiler (Kineto).

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported torch; options are described in
`inject/traceview_raw.py`. Each process that runs steps leaves `capture/raw/rank-NNNN.kineto.json` (or `.json.gz`),
`rank-NNNN.meta.json` and, where oneDNN ran on a CPU, `rank-NNNN.onednn.log`.

A step ends with `step()` of the first optimizer seen. A program without an optimizer has one step per call of its
outermost module. A loop that knows better says so in one line, which does nothing without a collector:
`import sys; sys.audit("traceview.step")`.

Ranges, as profiler annotations and (with CUDA) as NVTX: `ProfilerStep#N`; `traceview.phase: data`, `forward`,
`backward`, `optimizer`; `traceview.module: conv1 (Conv2d)` for each leaf module, named from its outermost module.
Phases may nest (an optimizer's closure runs forward): the innermost one counts. `data` is a DataLoader's `next` alone,
because time between a step and its first forward often belongs to a device that is waited for. Inside a compiled
region (torch.compile) there are no module ranges: to open them there would undo the compilation.

The one law: the program behaves as without us. No object of it is changed, an error here ends the recording and not
the training, and a forked child never writes its parent's events.
"""

import atexit
import functools
import multiprocessing.util
import os
import signal
import sys
import threading
import time

import torch
import torch.utils.data.dataloader
import traceview_raw as raw
from traceview_steps import CALL, CALL_EVENT, FORWARD, OPTIMIZER, Steps
from traceview_torch_compiler import kept_from_compiler, outside_compiler
from traceview_torch_kineto import STEP, Kineto
from traceview_torch_model import Facts, Names
from traceview_torch_ranges import Range, Ranges

PHASE = "traceview.phase: "
WAITING, PREPARED, RECORDING, DONE = range(4)


def safely(method):
    """A method of Recorder whose failure ends the recording instead of the program."""

    @functools.wraps(method)
    def guarded(self, *args):
        try:
            return method(self, *args)
        except Exception as error:
            return self.abandon(f"{str(error) or type(error).__name__} (in {method.__name__})")

    return guarded


class Recorder:
    """Follows this process through its steps, records some of them once, and writes them at once."""

    def __init__(self):
        self.options = raw.options()
        self.first = self.options["wait"] + self.options["warmup"]
        self.state = WAITING
        self.steps = Steps(self.advance)
        self.ranges = Ranges()
        self.names = Names()
        self.facts = Facts()
        self.kineto = Kineto(self.options)
        self.backwards = 0
        self.step_range = self.sigterm = None

    # What the program does

    @safely
    def enter_phase(self, name):
        """A phase begins; returns whether it is the outermost of its name in this thread."""
        self.backwards += name == "backward"
        if self.ranges.has(name):
            return False
        self.begin()
        self.push(name, [PHASE + name], True)
        return True

    @safely
    def leave_phase(self, name, outermost):
        """What `enter_phase` opened ends."""
        self.backwards -= name == "backward"
        if outermost:
            self.pop(name)

    @safely
    def enter(self, module, inputs):
        """A module's forward begins. Within data loading, or run again within backward, it is no forward phase."""
        outermost = not (self.backwards or self.ranges.has_module() or self.ranges.has("data"))
        names = []
        if outermost:
            if torch.utils.data.get_worker_info() is not None:
                self.state = DONE  # A loader's worker transforms data; it has no steps.
                return
            if self.names.learn(module):
                self.facts.see_model(module)
            self.begin()
            names.append(PHASE + FORWARD)
        self.facts.see_input(inputs)
        if self.state == RECORDING and not self.options["light"]:
            label = self.names.label(module)
            names += [label] if label else []
        self.push(id(module), names, outermost)

    @safely
    def leave(self, module):
        """A module's forward ended, or raised; an outermost one with parameters may be a step."""
        if self.pop(id(module)) and self.steps.source == FORWARD and next(module.parameters(), None) is not None:
            self.step_ended(FORWARD, module)

    @safely
    def begin(self):
        """The first sign of a first step."""
        if self.state == WAITING:
            self.steps.begin()

    @safely
    def prefer(self, source):
        """Something that ends steps has appeared; it counts if it is better than what is known."""
        self.steps.prefer(source)

    @safely
    def optimizer_stepped(self, optimizer):
        """An optimizer's `step` is over; one within another's (a sharded optimizer's part) is no step by itself."""
        if not self.ranges.has(OPTIMIZER):
            self.step_ended(OPTIMIZER, optimizer)

    @safely
    def step_ended(self, source, owner):
        """An optimizer's step or a model's call is over."""
        if self.state != DONE:
            self.steps.ended(source, owner)

    @safely
    def called(self):
        """The program's own word that a step is over; if it comes late, what was recorded without it does not count."""
        if self.state in (PREPARED, RECORDING) and self.steps.source != CALL:
            self.start_over()
        if self.state != DONE:
            self.steps.called()

    @safely
    def push(self, key, names, outermost):
        """Open ranges, if we record, and remember that `key` is open."""
        recorded = names if self.state == RECORDING else ()
        self.ranges.push(key, recorded, self.kineto.uses_cuda, outermost)

    @safely
    def pop(self, key):
        """Close what `key` opened; returns whether it was outermost."""
        return self.ranges.pop(key)

    # The recording

    def advance(self, done):
        """`done` steps lie behind us: prepare, start, go on or finish."""
        self.ranges.close_all()
        if self.step_range is not None:
            self.step_range.close()
            self.step_range = None
        if done == self.options["wait"] < self.first:
            self.prepare()
        if done == self.first:
            self.start()
        if done == self.first + self.options["steps"]:
            self.finish("complete")
            if self.options["stop_after"]:
                raise SystemExit(0)
        if self.state == RECORDING:
            self.step_range = Range(f"{STEP}{done}", self.kineto.uses_cuda)

    def prepare(self):
        """Set the profiler up; from here on, what ends a step is settled."""
        self.kineto.prepare()
        self.state = PREPARED
        self.steps.is_settled = True

    def start(self):
        """Record from here on, and be ready to save what there is when the program is told to end."""
        if self.state == WAITING:
            self.prepare()
        self.names.learn_again()
        self.facts.see_job()
        self.kineto.start()
        self.state = RECORDING
        raw.note("recording")
        is_main_thread = threading.current_thread() is threading.main_thread()
        if is_main_thread and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            self.sigterm = self.terminated
            signal.signal(signal.SIGTERM, self.sigterm)

    def start_over(self):
        """Forget the recording, not the program's steps to come."""
        self.ranges.close_all()
        if self.state == RECORDING:
            for path, _ in self.kineto.stop():
                path.unlink()
            self.let_go()
        self.step_range = None
        self.state = WAITING
        self.steps.is_settled = False

    @safely
    def finish(self, ended_by):
        """Stop and write what was recorded, once; `ended_by` is `complete`, or what cut the recording short."""
        if self.state != RECORDING:
            return
        with raw.signals_held():
            started = time.perf_counter_ns()
            self.ranges.close_all()
            self.state = DONE
            logs = self.kineto.stop()
            cut_step = None if self.step_range is None else len(self.steps.ends)
            trace = self.kineto.write(cut_step)
            meta = self.facts.collect(logs, self.kineto.uses_cuda)
            meta["warnings"] += self.kineto.problems
            meta["ended_by"] = ended_by
            meta["steps"] = self.steps.summary(self.first)
            meta["cost"] = self.steps.cost(self.options["wait"], self.first)
            meta["cost"]["write_ns"] = time.perf_counter_ns() - started
            raw.publish(self.facts.rank, meta, trace, logs)
            self.let_go()

    def abandon(self, why):
        """Give the recording up, for a reason that the user is told; the program goes on."""
        state, self.state = self.state, DONE
        raw.note("failed", why)
        try:
            self.let_go()
            if state == RECORDING:
                self.kineto.stop()
        except Exception as error:
            raw.note("failed", f"{why}; {error}")

    def let_go(self):
        """Take back what the program could notice; its calls still pass through here, and straight on."""
        if self.sigterm is not None and signal.getsignal(signal.SIGTERM) == self.sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    # The end of the process

    def at_exit(self):
        """The program ends: save what was recorded, or leave word why there is nothing."""
        self.finish("exit")
        if self.state in (WAITING, PREPARED):
            raw.note("waiting", f"{len(self.steps.ends)} {self.steps.source}")

    def terminated(self, signum, frame):
        """SIGTERM, for which the program has no handler: save what was recorded, then end as without us."""
        self.finish("SIGTERM")
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)

    def forked(self):
        """In a forked child: its steps are its own, its parent's recording is not."""
        self.ranges.open.clear()
        if self.state in (PREPARED, RECORDING):
            self.kineto.forget()
            self.state = DONE
            self.let_go()
        elif self.state == WAITING:
            self.steps.reset()
            raw.note("framework")


def install():
    """Hook the one recorder of this process into torch; called once, when the program has imported torch."""
    recorder = Recorder()
    raw.note("framework")
    follow_modules(recorder)
    follow_optimizers(recorder)
    torch.autograd.backward = in_phase(recorder, "backward", torch.autograd.backward)
    torch.autograd.grad = in_phase(recorder, "backward", torch.autograd.grad)
    loader = torch.utils.data.dataloader._BaseDataLoaderIter
    loader.__next__ = in_phase(recorder, "data", loader.__next__)
    make_room_for_own_profiler(recorder)
    sys.addaudithook(lambda event, args: recorder.called() if event == CALL_EVENT else None)
    os.register_at_fork(after_in_child=recorder.forked)
    atexit.register(recorder.at_exit)
    # Workers of multiprocessing end without atexit: its own finalizers are run, and set up again after a fork.
    multiprocessing.util.register_after_fork(recorder, finalize)
    if multiprocessing.parent_process() is not None:
        finalize(recorder)


def finalize(recorder):
    """Have multiprocessing call `at_exit` at the end of this worker."""
    multiprocessing.util.Finalize(None, recorder.at_exit, exitpriority=100)


def follow_modules(recorder):
    """Be told of every module's call, without touching a module.

    Not by global forward hooks: with these, torch.compile warns, and compiles again when they go.
    """
    call = torch.nn.Module.__call__

    @kept_from_compiler
    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if recorder.state == DONE or torch.compiler.is_compiling() or torch.jit.is_tracing():
            return call(self, *args, **kwargs)
        outside_compiler(recorder.enter, self, (*args, *kwargs.values()))
        try:
            return call(self, *args, **kwargs)
        finally:
            outside_compiler(recorder.leave, self)

    torch.nn.Module.__call__ = called


def follow_optimizers(recorder):
    """Be told when an optimizer is made and when its `step` has ended.

    The official step hooks run within the annotation `Optimizer.step#...`; a step that ended there would end inside it.
    """
    base = torch.optim.Optimizer
    make, wrap = base.__init__, base.profile_hook_step

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        make(self, *args, **kwargs)
        recorder.prefer(OPTIMIZER)

    def profile_hook_step(function):
        wrapped = wrap(function)

        call = in_phase(recorder, OPTIMIZER, wrapped)

        @kept_from_compiler
        @functools.wraps(function)
        def step(self, *args, **kwargs):
            result = call(self, *args, **kwargs)
            if recorder.state != DONE and not torch.compiler.is_compiling():
                outside_compiler(recorder.optimizer_stepped, self)
            return result

        return step

    base.__init__ = made
    base.profile_hook_step = staticmethod(profile_hook_step)


def in_phase(recorder, name, function):
    """`function`, its calls marked as a phase."""

    @kept_from_compiler
    @functools.wraps(function)
    def call(*args, **kwargs):
        if recorder.state == DONE or torch.compiler.is_compiling():
            return function(*args, **kwargs)
        outermost = outside_compiler(recorder.enter_phase, name)
        try:
            return function(*args, **kwargs)
        finally:
            outside_compiler(recorder.leave_phase, name, outermost)

    return call


def make_room_for_own_profiler(recorder):
    """There is one profiler at a time: when the program starts its own, ours ends before."""
    profile = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "_start_trace"):
        function = getattr(profile, name, None)
        if function is not None:
            setattr(profile, name, ending_ours(recorder, function))


def ending_ours(recorder, function):
    """`function` of a profiler, after our recording has ended unless the profiler is ours."""

    @functools.wraps(function)
    def call(self, *args, **kwargs):
        ours = recorder.kineto.profiler
        if ours is not None and ours.profiler is not self:
            recorder.finish("the program's own profiler")
        return function(self, *args, **kwargs)

    return call
