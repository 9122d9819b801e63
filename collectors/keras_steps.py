"""Tells the recorder of Keras' back-end (torch, tensorflow or jax) where a Keras 3 program's steps end, and its model.

This records nothing itself: the back-end's collector beside this file does. `inject/sitecustomize.py` calls `install`
when the program has imported keras, which may be before, while or after it imports the back-end.

Invariant: only what Keras itself calls is wrapped; without a recorder of the back-end every call goes straight on.
"""

import contextlib
import functools
import weakref

import keras
from keras.src.optimizers.base_optimizer import BaseOptimizer
from traceview_inject.model import shape_of
from traceview_inject.recorder import PROCESS
from traceview_inject.steps import OPTIMIZER

FRAMEWORK = "keras>=3"

DEFAULT_BATCH = 32


def recorder():
    """The recorder of the back-end while it still waits or records, else None."""
    found = PROCESS.recorders.get(keras.backend.backend())
    return None if found is None or found.is_over else found


def install():
    """Hook into Keras' trainers and optimizers."""
    follow_training_function(keras.Model)
    for name in ("test_function", "predict_function"):
        follow_other_function(keras.Model, name)
    follow_optimizer()
    if keras.backend.backend() == "tensorflow":
        follow_scopes()
    for name in ("fit", "train_on_batch"):
        setattr(keras.Model, name, with_model(getattr(keras.Model, name)))


def follow_training_function(model_class):
    """A step ends where the function that `fit` and `train_on_batch` call for each batch does."""
    make = model_class.make_train_function

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        before = self.train_function
        result = make(self, *args, **kwargs)
        if self.train_function is not before:
            self.train_function = ending_steps(self, self.train_function)
        return result

    model_class.make_train_function = made


def follow_other_function(model_class, name):
    """Let the function that a model validates or predicts with run between steps."""
    make = getattr(model_class, f"make_{name}")

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        before = getattr(self, name)
        result = make(self, *args, **kwargs)
        if getattr(self, name) is not before:
            setattr(self, name, passing_by(getattr(self, name)))
        return result

    setattr(model_class, f"make_{name}", made)


def passing_by(function):
    """`function`, no call of it a step or a part of one."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        found = recorder()
        if found is None:
            return function(*args, **kwargs)
        found.is_evaluating = True
        try:
            return function(*args, **kwargs)
        finally:
            found.is_evaluating = False
            found.passed(function)

    return call


def ending_steps(model, function):
    """`function`, each call of it a step of the model."""
    owner = weakref.ref(model)

    @functools.wraps(function)
    def step(*args, **kwargs):
        found = recorder()
        if found is None:
            return function(*args, **kwargs)
        is_whole = False
        found.enter_library(OPTIMIZER)
        try:
            result = function(*args, **kwargs)
            is_whole = True
            return result
        finally:
            found.leave_library(OPTIMIZER, owner(), is_whole)

    return step


def follow_optimizer():
    """In a loop of the program's own, an optimizer ends the step."""
    apply = BaseOptimizer.apply

    @functools.wraps(apply)
    def applied(self, *args, **kwargs):
        result = apply(self, *args, **kwargs)
        found = recorder()
        if found is not None and hasattr(found, "applied"):
            found.applied(self)
        return result

    BaseOptimizer.apply = applied


def follow_scopes():
    """Learn the name scopes that TensorFlow makes for layers and optimizers while it builds a graph.

    They are numbered anew where a name was used before: the scope `net_1/conv2d_1` may be the model's `net/conv2d`.
    """
    from keras.src.backend.tensorflow.core import name_scope
    from tensorflow.python.framework import ops

    enter = name_scope.__enter__

    @functools.wraps(enter)
    def entered(self):
        result = enter(self)
        found = recorder()
        if found is not None:
            with contextlib.suppress(Exception):  # A name less is no reason to disturb the program.
                graph = ops.get_default_graph() if ops.inside_function() else None
                scope = graph.get_name_scope() if graph is not None else ""
                if scope and self.caller is not None:
                    found.facts.layers[scope] = name_of(self.caller, found.facts.layers.get(scope.rpartition("/")[0]))
        return result

    name_scope.__enter__ = entered


def name_of(owner, around):
    """The path of a layer in its model, and `optimizer` for that; what has nothing to build has no path of its own."""
    if isinstance(owner, BaseOptimizer):
        return OPTIMIZER
    return getattr(owner, "path", None) or "/".join(name for name in (around, owner.name) if name)


def with_model(method):
    """`method` of a model; its recorder learns model and batch."""

    @functools.wraps(method)
    def call(self, x=None, y=None, *args, **kwargs):
        found = recorder()
        if found is not None and hasattr(found.facts, "model"):  # PyTorch's recorder learns both by itself.
            with contextlib.suppress(Exception):  # A fact less is no reason to disturb the program.
                see(found.facts.model, self, x, method.__name__, args, kwargs)
        return method(self, x, y, *args, **kwargs)

    return call


def see(facts, model, x, method, args, kwargs):
    """Note the model that is trained and how many samples a step takes."""
    facts.see_owner(model)
    policy = keras.mixed_precision.dtype_policy()
    facts.autocast_dtype = policy.compute_dtype if policy.compute_dtype != policy.variable_dtype else None
    shape = shape_of(x)
    if not shape:
        return  # A data set or a generator: it makes the batches.
    size = shape[0]
    if method == "fit":
        size = min(size, kwargs.get("batch_size") or next(iter(args), None) or DEFAULT_BATCH)
    facts.batch = size
    facts.input = {"shape": [size, *shape[1:]], "dtype": str(getattr(x, "dtype", None))}
