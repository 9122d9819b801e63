"""The outermost calls of a PyTorch program's modules, in which options are tried: before, around and after each.

Invariant: only modules with parameters count, and only calls from outside of any other, of the backward pass and of
compilers. Nothing is done in a worker of a DataLoader.
"""

import functools
import threading
import weakref

import torch
import torch.utils.data

from traceview_inject.torch_compiler import kept_from_compiler, outside_compiler


class Models:
    """Calls to make when a model is called; it hooks itself in when there are any."""

    def __init__(self):
        self.firsts, self.befores, self.afters, self.inputs, self.arounds = [], [], [], [], []
        self.known = weakref.WeakSet()
        self.here = threading.local()
        self.is_hooked = False

    def before_first(self, do):
        """Have `do(model)` called before the first call of each model."""
        self.hook(self.firsts, do)

    def before_each(self, do):
        """Have `do()` called before each call."""
        self.hook(self.befores, do)

    def after_each(self, do):
        """Have `do()` called after each call."""
        self.hook(self.afters, do)

    def change_inputs(self, do, is_first=False):
        """Have each tensor that a model is given replaced by `do(tensor)`, before other changes or after them."""
        self.hook(self.inputs, do)
        if is_first:
            self.inputs.insert(0, self.inputs.pop())

    def call_within(self, do):
        """Have `do(model, call)` call the model by `call()` and return its result."""
        self.hook(self.arounds, do)

    def hook(self, actions, do):
        """Note what is to be done."""
        actions.append(do)
        if not self.is_hooked:
            self.is_hooked = True
            follow(self)

    def enter(self, model, args, kwargs):
        """A model is called from outside of any other: its arguments."""
        self.here.is_inside = True
        if model not in self.known:
            self.known.add(model)
            for do in self.firsts:
                do(model)
        for do in self.befores:
            do()
        for do in self.inputs:
            args = tuple(images_in(value, do) for value in args)
            kwargs = {name: images_in(value, do) for name, value in kwargs.items()}
        return args, kwargs

    def leave(self):
        """The call is over."""
        self.here.is_inside = False
        for do in self.afters:
            do()

    def is_one(self, module):
        """Whether a call from outside of any other module's is one of a model."""
        return not (
            torch._C._current_graph_task_id() >= 0
            or next(module.parameters(), None) is None
            or torch.utils.data.get_worker_info() is not None
        )


MODELS = Models()


def images_in(value, do):
    """A value with each tensor in it, also in lists, tuples and dictionaries, replaced by `do(tensor)`."""
    if isinstance(value, torch.Tensor):
        return do(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(images_in(part, do) for part in value)
    if type(value) is dict:
        return {name: images_in(part, do) for name, part in value.items()}
    return value


def follow(models):
    """Be told of every module's call."""
    call = torch.nn.Module.__call__

    @kept_from_compiler
    @functools.wraps(call)
    def called(self, *args, **kwargs):
        is_part = getattr(models.here, "is_inside", False) or torch.compiler.is_compiling() or torch.jit.is_tracing()
        if is_part or not outside_compiler(models.is_one, self):
            return call(self, *args, **kwargs)
        args, kwargs = outside_compiler(models.enter, self, args, kwargs)
        try:
            run = functools.partial(call, self, *args, **kwargs)
            for do in models.arounds:
                run = functools.partial(do, self, run)
            return run()
        finally:
            outside_compiler(models.leave)

    torch.nn.Module.__call__ = called
