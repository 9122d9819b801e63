"""A plan at work in a PyTorch program: each convolution runs, in each pass, what the plan names for it.

It runs in the Python of the user, where traceview may be absent: it imports torch and the back-ends beside it. The
modules of the model are not changed: `torch.nn.Conv2d` asks here first, and what is not in the plan (another shape,
type or device, autocast, a compiled or traced region, gradients of gradients) runs as it always did.

Invariant: a back-end is used only after its first result agreed with double precision on the tensors of the program,
about as closely as PyTorch's own result; where it does not, the default stays and a line on stderr says so.
"""

from __future__ import annotations

import json
import platform
import sys
import time
import weakref
from collections import Counter
from collections.abc import Callable
from operator import is_
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from . import passes
from .exact import Exact
from .passes import UNTOLD, filter_of, has_filter, is_float, is_plain, output_of, prepare, settings_of, steps_of
from .plan import DIRECTIONS, SHAPE, PlanError, check, is_exact

MOST_BYTES = 16 << 20
WRAPPERS = ("module.", "_orig_mod.")
"""Prefixes that wrappers (DistributedDataParallel, compile) put before the names of a model's modules."""


def load(path: str | Path) -> dict[str, Any]:
    """A plan from a file. Raises `PlanError`."""
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise PlanError(f"{path} is too large for a plan")
        plan = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{path} is not a plan: it is not JSON") from error
    return check(plan)


def cpu() -> str:
    """The model of this processor, as plans name it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return next(named, platform.processor())
    except OSError:
        return platform.processor()


# One layer

tally: Counter[str] = Counter()
"""Passes, once each: those that run what a plan names, those that stay as they were, those it leaves PyTorch's own."""
elsewhere: Counter[str] = Counter()
"""Calls of layers with a plan that ran as they always did, by why."""


class Memory:
    """The cap on workspace that a plan has: of each pass, or of all together."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.cap, self.is_shared, self.taken = plan.get("memory_bytes"), plan.get("own_workspaces") is True, 0

    def take(self, n_bytes: int | None) -> None:
        """Count a pass. Raises `PlanError` for one that the cap does not leave."""
        if self.cap is None or not n_bytes:
            return
        if n_bytes + (self.taken if self.is_shared else 0) > self.cap:
            raise PlanError(f"it needs {n_bytes:,} bytes of workspace, more than the plan's {self.cap:,} leave")
        self.taken += n_bytes


def key(plan: dict[str, Any], entry: dict[str, Any]) -> str:
    """Return what tells a layer of a plan from the others; in one of shapes, all convolutions of a shape are one."""
    return json.dumps([plan.get("keys") != SHAPE and entry["module"], entry["shape"]], sort_keys=True)


def is_changed(entry: dict[str, Any]) -> bool:
    """Whether a layer of a plan says anything else than what PyTorch does anyway."""
    return bool(entry["layout"] != "nchw" or any(map(entry.get, DIRECTIONS)))


class Planned:
    """Plan of one convolution."""

    def __init__(
        self, entry: dict[str, Any], plan: dict[str, Any], say: Callable[[str], None], memory: Memory | None = None
    ) -> None:
        shape = entry["shape"]
        self.name, self.shape, self.say = entry["module"], shape, say
        self.spec = SimpleNamespace(**shape, device="cpu", layout=entry["layout"])
        self.numerics, self.threads = plan["numerics"], plan["threads"]
        self.memory = memory or Memory(plan)
        self.input = tuple(shape[name] for name in ("batch", "in_channels", "height", "width"))
        self.filter, self.output = filter_of(shape), output_of(shape)
        self.steps = steps_of(self.spec)
        self.format = torch.channels_last if entry["layout"] == "nhwc" else torch.contiguous_format
        self.choices = {direction: entry.get(direction) for direction in DIRECTIONS}
        self.passes: dict[str, Any] = {}
        self.clock: Callable[[str, str, int], None] | None = None
        self.settings: tuple[Any, ...] = ()
        """Settings of its module when the plan was applied."""
        self.is_off = False
        """While it is measured: every pass is PyTorch's own."""
        self.key = key(plan, entry)
        self.is_changed = is_changed(entry)
        self.has_run = False
        """Whether some pass ran by a back-end or in another layout, or any where the plan changes nothing."""

    def fits(self, module: Any) -> bool:
        """Whether a module is the convolution that the plan speaks of; how it is set now is remembered."""
        if not has_filter(module) or module.padding_mode != "zeros" or isinstance(module.padding, str):
            return False
        self.settings = settings_of(module)
        steps = [list(module.stride), list(module.padding), list(module.dilation)]
        is_same = module.weight.shape == self.filter and (*steps, False, [0, 0], module.groups) == self.steps
        return is_same and min(self.output) > 0

    def why_not(self, x: Any, w: Any, bias: Any = None, dy: Any = None) -> str | None:
        """Why a call is PyTorch's own; None where the plan holds, and every tensor is what a back-end may read."""
        try:
            if not is_plain():
                return "autocast, tracing, inference mode or another mode"
            given = [(x, self.input), (w, self.filter)]
            given += [each for each in ((bias, self.filter[:1]), (dy, self.output)) if each[0] is not None]
            for tensor, shape in given:
                if not is_float(tensor):
                    return "another type or device"
                if tensor.shape != shape:
                    return "another shape"
        except UNTOLD:
            return "a PyTorch that does not tell its modes or kinds of tensors"
        return None if torch.get_num_threads() == self.threads else "another number of threads"

    def _pass(self, direction: str, operands: tuple[torch.Tensor, ...]) -> Any:
        """Return the code that runs a pass, checked; None for PyTorch's own."""
        if direction not in self.passes:
            self.passes[direction] = self._checked(direction, operands)
            if self.choices[direction] is None:
                tally["own"] += 1
            else:
                tally["as before" if self.passes[direction] is None else "by the plan"] += 1
        return self.passes[direction]

    def _checked(self, direction: str, operands: tuple[torch.Tensor, ...]) -> Any:
        choice = self.choices[direction]
        if choice is None:
            return None
        try:
            runner = prepare(choice, self.spec, direction)
            self.memory.take(runner.workspace_bytes)
            error, own = self.errors(runner, direction, operands)
        except Exception as problem:
            self.say(f"{self.name}: {direction} stays as it was, {choice['backend']} cannot run it ({problem})")
            return None
        if not is_exact(error, own, self.numerics):
            self.say(
                f"{self.name}: {direction} stays as it was, {choice['implementation']} was {error:.1e} off "
                f"(PyTorch {own:.1e})"
            )
            return None
        return runner

    def errors(self, runner: Any, direction: str, operands: tuple[torch.Tensor, ...]) -> tuple[float, float]:
        """Return the errors of a back-end and of PyTorch's own on these operands, over the largest value."""
        exact = Exact(self.spec, direction, operands)
        shape = {"fprop": (), "dgrad": self.input, "wgrad": self.filter}[direction]
        first, second = (operand.detach() for operand in operands)
        with torch.no_grad():
            own = self.default(direction, first, second, None, torch.empty(shape))
            return exact.error(passes.run(runner, first, second)), exact.error(own)

    def _timed(
        self, direction: str, operands: tuple[torch.Tensor, torch.Tensor], bias: Any = None, like: Any = None
    ) -> torch.Tensor:
        """A pass; whoever measures is told how long it took this thread."""
        runner = self._pass(direction, operands)
        now = time.thread_time_ns if self.threads == 1 else time.perf_counter_ns
        begin_ns = now()
        result = None if runner is None or self.is_off else self._ran(runner, direction, operands, bias, like)
        self.has_run |= result is not None or self.spec.layout != "nchw" or not self.is_changed
        if result is None:
            result = self.default(direction, *operands, bias, like)
        if self.clock:
            self.clock(self.name, direction, now() - begin_ns)
        return result

    def _ran(
        self, runner: Any, direction: str, operands: tuple[torch.Tensor, torch.Tensor], bias: Any, like: Any
    ) -> Any:
        """Return the back-end's result; None if it failed, which disables it."""
        try:
            with passes.recorded(self.choices[direction], direction, operands, bias, like, self.steps):
                return passes.run(runner, *operands, bias)
        except Exception as problem:
            choice = self.choices[direction] or {}
            self.say(f"{self.name}: {direction} goes on as it was, {choice.get('backend')} failed ({problem})")
            self.passes[direction] = None
            return None

    def fprop(self, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """The output."""
        return self._timed("fprop", (x, w), bias)

    def gradients(
        self, dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, needed: tuple[bool, ...]
    ) -> tuple[torch.Tensor | None, ...]:
        """Gradients of input, filter and bias, where needed."""
        dx = self._timed("dgrad", (dy, w), None, x) if needed[0] else None
        dw = self._timed("wgrad", (x, dy), None, w) if needed[1] else None
        return dx, dw, dy.sum((0, 2, 3)) if needed[2] else None

    def default(
        self, direction: str, first: torch.Tensor, second: torch.Tensor, bias: Any = None, like: Any = None
    ) -> torch.Tensor:
        """Run PyTorch's own code, in the layout of the plan; `like` has the shape of the result."""
        first = first.contiguous(memory_format=self.format)
        if direction == "dgrad":
            like = like.contiguous(memory_format=self.format)
        elif direction == "wgrad":
            second = second.contiguous(memory_format=self.format)
        return passes.own(direction, first, second, self.steps, bias, like)


class Convolution(torch.autograd.Function):
    """A convolution under a plan, for autograd."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None, layer: Planned) -> torch.Tensor:
        """See `Planned.fprop`."""
        ctx.save_for_backward(x, w)
        ctx.set_materialize_grads(False)
        ctx.layer = layer
        return layer.fprop(x, w, bias)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> Any:
        """See `Planned.gradients`; where gradients of these are asked for, PyTorch's own operators, which have some."""
        if dy is None:
            return None, None, None, None
        x, w = ctx.saved_tensors
        layer, needed = ctx.layer, ctx.needs_input_grad[:3]
        reason = "gradients of gradients" if torch.is_grad_enabled() else layer.why_not(x, w, dy=dy)
        if reason is not None:
            elsewhere[reason] += 1
            sizes = [w.shape[0]] if needed[2] else None
            return (*torch.ops.aten.convolution_backward(dy, x, w, sizes, *layer.steps, list(needed)), None)
        return (*layer.gradients(dy, x, w, needed), None)


# A model


_planned: weakref.WeakKeyDictionary[Any, list[Planned]] = weakref.WeakKeyDictionary()
_original = torch.nn.Conv2d._conv_forward


def _conv_forward(self: Any, x: Any, weight: Any, bias: Any) -> Any:
    """`torch.nn.Conv2d._conv_forward`, by plan."""
    if not torch.compiler.is_compiling():
        refused = None
        for layer in _planned.get(self, ()):
            # The very objects: of what was set since then, PyTorch says whether it is right.
            is_as_it_was = all(map(is_, settings_of(self), layer.settings))
            reason = layer.why_not(x, weight, bias) if is_as_it_was else "another stride, padding or groups"
            if reason is None:
                return Convolution.apply(x, weight, bias, layer)  # type: ignore[no-untyped-call]
            refused = refused or reason
        if refused:
            elsewhere[refused] += 1
    return _original(self, x, weight, bias)


def say(text: str) -> None:
    """A line on stderr."""
    print(f"traceview: {text}", file=sys.stderr)


def apply(model: torch.nn.Module, plan: str | Path | dict[str, Any], say: Callable[[str], None] = say) -> list[Planned]:
    """Have the convolutions of `model` run what a plan names for them; returns those that it is for.

    `plan`: a file or what it holds. Applied twice, the later plan holds. Raises `PlanError`.
    """
    plan = check(plan) if isinstance(plan, dict) else load(plan)
    modules = {bare(name): module for name, module in model.named_modules()}
    for module in modules.values():
        _planned.pop(module, None)
    found, memory, fitting = [], Memory(plan), set()
    entries: dict[Any, list[dict[str, Any]]] = {}
    for entry in plan["layers"]:
        entries.setdefault(filter_of(entry["shape"]) if plan.get("keys") == SHAPE else entry["module"], []).append(
            entry
        )
    for name, module in modules.items():
        if not has_filter(module):
            continue
        for entry in entries.get(tuple(module.weight.shape) if plan.get("keys") == SHAPE else name, ()):
            layer = Planned({**entry, "module": name}, plan, say, memory)
            if layer.fits(module):
                _planned.setdefault(module, []).append(layer)
                found.append(layer)
                fitting.add(id(entry))
    left = [entry for entry in plan["layers"] if id(entry) not in fitting]
    if left and any(isinstance(module, torch.nn.Conv2d) for module in modules.values()):
        some = ", ".join(repr(entry["module"][:80]) for entry in left[:3]) + ", ..." * (len(left) > 3)
        say(f"{len(left)} of the plan's {len(plan['layers'])} layers fit no convolution of this model: {some}")
    if found and plan.get("cpu") not in (None, "", cpu()):
        say(f"the plan was made on {str(plan['cpu'])[:80]!r}, and this is another processor: its times may not hold")
    torch.nn.Conv2d._conv_forward = _conv_forward  # type: ignore[method-assign, assignment]
    return found


def applied() -> dict[Any, list[Planned]]:
    """Return the plans of all modules, for `restore`."""
    return dict(_planned)


def restore(state: dict[Any, list[Planned]]) -> None:
    """Have all modules run what they ran by plan at that time."""
    _planned.clear()
    _planned.update(state)


def remove(model: torch.nn.Module) -> None:
    """Have the model run as it did."""
    for module in model.modules():
        _planned.pop(module, None)


def bare(name: str) -> str:
    """A module's name without those of wrappers around the model."""
    for wrapper in WRAPPERS:
        name = name.removeprefix(wrapper)
    return name
