"""Records some training steps of an unmodified PyTorch 2.x program with torch.profiler (Kineto).

Under `traceview collect -- python train.py`, or alone, where traceview is not installed:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

`inject/sitecustomize.py` calls `install` when the program has imported torch; options are described in
`traceview_inject.raw`. Each process that runs steps leaves `capture/raw/rank-NNNN.kineto.json` (or `.json.gz`),
`rank-NNNN.meta.json` and, where oneDNN ran on a CPU, `rank-NNNN.onednn.log`.

A step ends with `step()` of the first optimizer seen, or of the last of those that take turns, also where a GradScaler
leaves that out. A program without an optimizer of torch (fastai brings its own) has one step per backward pass outside
of modules, and without such one per call of its outermost module. A loop that knows better says so in one line, which
does nothing without a collector: `import sys; sys.audit("traceview.step")`.

Ranges, as profiler annotations and (with CUDA) as NVTX: `ProfilerStep#N`; `traceview.phase: data`, `forward`,
`backward`, `optimizer`; `traceview.module: blocks.0.conv1 (Conv2d)` for each module, named from its outermost module.
Phases may nest (an optimizer's closure runs forward): the innermost one counts. `data` is a DataLoader's `next` alone,
because time between a step and its first forward often belongs to a device that is waited for. Inside a compiled
region (torch.compile) there are no module ranges: to open them there would undo the compilation.

Invariant: the program behaves as without us. No object of it is changed, an error here ends the recording and not
the training, and a forked child never writes its parent's events.
"""

import functools
import weakref

import torch
import torch.utils.data.dataloader
from traceview_inject.recorder import DONE, NEVER, PROCESS, RECORDING, Recorder, safely
from traceview_inject.steps import BACKWARD, FORWARD, OPTIMIZER
from traceview_inject.torch_compiler import kept_from_compiler, outside_compiler
from traceview_inject.torch_kineto import Kineto
from traceview_inject.torch_model import Facts, Names
from traceview_inject.torch_ranges import Ranges

FRAMEWORK = "torch"

PHASE = "traceview.phase: "


class TorchRecorder(Recorder):
    """Follows modules, phases and optimizers; see `recorder` for the recording itself."""

    def __init__(self):
        super().__init__("torch", None, Facts())
        self.tool = Kineto(self.options)
        self.ranges = Ranges()
        self.names = Names()
        if self.options["allocations"]:
            self.facts.roots = self.names.roots
        # Backward passes under way; and the step of the last one, by its number.
        self.backwards, self.differentiated = 0, NEVER
        # Forward passes of a validation within recorded steps.
        self.validated = 0
        # Number of optimizers' steps so far.
        self.updates = 0
        # The last optimizer that stepped within the backward pass under way.
        self.stepped = None
        # Outermost modules that ran with gradients; and the shapes of the parameters of such and of those like them.
        self.trained, self.shapes = weakref.WeakSet(), weakref.WeakKeyDictionary()

    # What the program does

    @property
    def follows(self):
        """Whether what ends counts as a step: PyTorch records threads one by one, and stops in the one that began."""
        return super().follows and not self.is_elsewhere

    @safely
    def enter_phase(self, name):
        """A phase begins; returns whether it is the outermost of its name in this thread."""
        if name == BACKWARD:
            self.backwards += 1
            self.facts.see_backward()
            if not (is_in_graph() or self.ranges.has_module()):
                self.prefer(BACKWARD)
            self.differentiated = len(self.steps.ends)
        if self.ranges.has(name):
            return False
        self.begin()
        self.steps.is_under_way |= name != "data"
        self.push(name, [PHASE + name], True)
        return True

    @safely
    def leave_phase(self, name, outermost):
        """End the phase that `enter_phase` opened."""
        self.backwards -= name == BACKWARD
        if outermost:
            self.pop(name)
            if name == BACKWARD and not (is_in_graph() or self.ranges.has_module()):
                self.step_ended(BACKWARD, None)
        if self.stepped is not None and not is_in_graph():
            optimizer, self.stepped = self.stepped, None
            self.optimizer_stepped(optimizer)

    @safely
    def enter(self, module, inputs):
        """A module's forward begins. Within data loading, or run again within backward, it is not a forward phase."""
        outermost = not (self.backwards or self.ranges.has_module() or self.ranges.has("data"))
        names = []
        if outermost:
            if torch.utils.data.get_worker_info() is not None:
                self.state = DONE  # A loader's worker transforms data; it has no steps.
                return
            self.names.learn(module)
            self.facts.see_model(module)
            self.begin()
            if torch.is_grad_enabled() and not is_frozen(module):
                self.steps.is_under_way = True
                self.trained.add(module)
            names.append(PHASE + FORWARD)
        self.facts.see_input(inputs)
        self.facts.see_recurrent(module, inputs)
        if self.state == RECORDING and not self.options["light"]:
            label = self.names.label(module)
            names += [label] if label else []
        self.push(id(module), names, outermost)

    @safely
    def leave(self, module):
        """A module's forward ended, or raised; an outermost one with parameters may be a step."""
        if not self.pop(id(module)):
            return
        self.facts.see_pass(module)
        if self.steps.source == FORWARD and next(module.parameters(), None) is not None:
            self.step_ended(FORWARD, module)
        elif (not torch.is_grad_enabled() or is_frozen(module)) and (module in self.trained or self.is_copy(module)):
            self.passed(module)  # It, or that of which it is a copy, is validated.
            if self.state == RECORDING and self.differentiated == len(self.steps.ends) and not module.training:
                self.validated += self.is_trained(module)

    def is_trained(self, module):
        """Whether a module, or what wraps it, is one that is trained."""
        first = next(module.parameters(), None)
        return first is not None and any(next(each.parameters(), None) is first for each in self.trained)

    def is_copy(self, module):
        """Whether a module has as many parameters of the same shapes as one that is trained: others are no validation
        by themselves, but a teacher or an encoder, which may run in some of the steps."""

        def shapes(it):
            if it not in self.shapes:
                self.shapes[it] = [parameter.shape for parameter in it.parameters()]
            return self.shapes[it]

        return bool(shapes(module)) and any(shapes(each) == shapes(module) for each in self.trained)

    @safely
    def optimizer_stepped(self, optimizer):
        """An optimizer's `step` is over; one within another's (a sharded optimizer's part) is not a step by itself.

        Those within a backward pass, one for each parameter, are one, which ends with that: the autograd engine has
        callbacks of its own, among which a profiler cannot be started or stopped.
        """
        if self.ranges.has(OPTIMIZER):
            return
        self.updates += 1
        self.facts.optimizers.add(optimizer)
        if is_in_graph():
            self.stepped = optimizer
            return
        self.prefer(OPTIMIZER)  # It may be one that a parent process made.
        self.begin()
        self.step_ended(OPTIMIZER, optimizer)

    @safely
    def applied(self, optimizer):
        """An optimizer of Keras changed parameters."""
        self.prefer(OPTIMIZER)
        self.begin()
        self.step_ended(OPTIMIZER, optimizer)

    @safely
    def batch_loaded(self, iterator):
        """A DataLoader has given a batch."""
        if self.state == RECORDING:
            self.facts.see_loader(iterator)

    @safely
    def make_room(self, profiler):
        """The program sets up or starts a profiler of its own."""
        self.yield_to_own_profiler()
        self.tool.make_room(profiler)

    @safely
    def push(self, key, names, outermost):
        """Open ranges, if we record, and remember that `key` is open."""
        recorded = names if self.state == RECORDING else ()
        self.ranges.push(key, recorded, self.tool.uses_nvtx, outermost)

    @safely
    def pop(self, key):
        """Close what `key` opened; returns whether it was outermost."""
        return self.ranges.pop(key)

    # The recording

    def close_ranges(self):
        """At the end of a step no range should be open, of a recording none may."""
        self.ranges.close_all()

    def start(self):
        """Name also what models made during their first steps."""
        self.names.learn_again()
        super().start()

    def collect(self, logs):
        """The facts of this rank."""
        return {
            **self.facts.collect(logs, self.tool.uses_cuda),
            "untrained": self.names.only(self.facts.untrained()),
            "validated": self.validated if self.steps.source == OPTIMIZER else 0,
        }

    def forked(self):
        """In a forked child, no range of the parent is open."""
        self.ranges.open.clear()
        super().forked()


def install():
    """Hook the one recorder of this process into torch; called once, when the program has imported torch."""
    recorder = TorchRecorder()
    follow_modules(recorder)
    follow_optimizers(recorder)
    follow_scaler(recorder)
    torch.autograd.backward = in_phase(recorder, BACKWARD, torch.autograd.backward)
    torch.autograd.grad = in_phase(recorder, BACKWARD, torch.autograd.grad)
    if recorder.times is not None:
        torch.autograd.backward = seeing_loss(recorder.times, torch.autograd.backward)
    loader = torch.utils.data.dataloader._BaseDataLoaderIter
    loader.__next__ = in_phase(recorder, "data", seeing_loader(recorder, loader.__next__))
    make_room_for_own_profiler(recorder)
    PROCESS.follow(recorder)


def is_in_graph():
    """Whether this thread runs for the autograd engine: in the middle of a backward pass."""
    # Torch before 2.1 does not tell.
    return hasattr(torch._C, "_current_graph_task_id") and torch._C._current_graph_task_id() >= 0


def is_frozen(module):
    """Whether a module has parameters and none of them asks for a gradient."""
    # Of a model that is trained the first one tells: this runs in every pass.
    asked = (parameter.requires_grad for parameter in module.parameters())
    return next(asked, None) is False and not any(asked)


def follow_modules(recorder):
    """Be told of every module's call, without touching a module.

    Not by global forward hooks: with these, torch.compile warns, and compiles again when they go.
    """
    call = torch.nn.Module.__call__

    @kept_from_compiler
    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if recorder.is_over or torch.compiler.is_compiling() or torch.jit.is_tracing():
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
        recorder.facts.made[self] = None
        recorder.expect(OPTIMIZER)

    def profile_hook_step(function):
        wrapped = wrap(function)

        call = in_phase(recorder, OPTIMIZER, wrapped)

        @kept_from_compiler
        @functools.wraps(function)
        def step(self, *args, **kwargs):
            result = call(self, *args, **kwargs)
            if recorder.follows and not torch.compiler.is_compiling():
                outside_compiler(recorder.optimizer_stepped, self)
            return result

        return step

    base.__init__ = made
    base.profile_hook_step = staticmethod(profile_hook_step)


def follow_scaler(recorder):
    """Be told of an update that a GradScaler leaves out, as gradients were infinite: its iteration is a step, too."""
    # Before torch 2.3 it was of CUDA alone.
    scaler = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)
    scale_and_step = scaler.step

    @kept_from_compiler
    @functools.wraps(scale_and_step)
    def step(self, optimizer, *args, **kwargs):
        before = recorder.updates
        result = scale_and_step(self, optimizer, *args, **kwargs)
        if recorder.follows and recorder.updates == before and isinstance(optimizer, torch.optim.Optimizer):
            recorder.optimizer_stepped(optimizer)
        return result

    scaler.step = step


def in_phase(recorder, name, function):
    """`function`, its calls marked as a phase."""

    @kept_from_compiler
    @functools.wraps(function)
    def call(*args, **kwargs):
        is_ignored = recorder.ignores(BACKWARD) if name == BACKWARD else recorder.is_over
        if is_ignored or torch.compiler.is_compiling():
            return function(*args, **kwargs)
        outermost = outside_compiler(recorder.enter_phase, name)
        try:
            return function(*args, **kwargs)
        finally:
            outside_compiler(recorder.leave_phase, name, outermost)

    return call


def seeing_loader(recorder, following):
    """`__next__` of a DataLoader's iterator, with a look at how that loads."""

    @functools.wraps(following)
    def call(self):
        batch = following(self)
        recorder.batch_loaded(self)
        return batch

    return call


def seeing_loss(times, backward):
    """`backward`, with a look at the last single number that it is called for."""

    @functools.wraps(backward)
    def call(tensors, *args, **kwargs):
        last = tensors if isinstance(tensors, torch.Tensor) else next(reversed(tensors or ()), None)
        if isinstance(last, torch.Tensor) and last.numel() == 1:
            times.see_loss(last.detach())
        return backward(tensors, *args, **kwargs)

    return call


def make_room_for_own_profiler(recorder):
    """There is one profiler at a time: when the program sets its own up, ours ends, and waits for its end."""
    profile = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "_start_trace"):
        function = getattr(profile, name, None)
        if function is not None:
            setattr(profile, name, ending_ours(recorder, function))
    leave = profile.__exit__

    @functools.wraps(leave)
    def left(self, *error):
        try:
            return leave(self, *error)
        finally:
            recorder.tool.others.discard(self)

    profile.__exit__ = left


def ending_ours(recorder, function):
    """`function` of a profiler, after ours has ended unless it is that one."""

    @functools.wraps(function)
    def call(self, *args, **kwargs):
        ours = recorder.tool.profiler
        if ours is None or ours.profiler is not self:
            recorder.make_room(self)
        return function(self, *args, **kwargs)

    return call
