"""Options for a TensorFlow program: one function for each, called when TensorFlow was imported."""

import functools

import tensorflow as tf
from tensorflow.python.client import session
from tensorflow.python.data.ops import dataset_ops

from traceview_inject.options import THE_SAME, change_arguments, cores

THREADS = ("intra_op_parallelism_threads", "inter_op_parallelism_threads")


def tensorflow_threads(say):
    """As many threads as cores, whatever the program sets."""
    own = {}
    for name in THREADS:
        keep_at(say, tf.config.threading, "set_" + name, cores(), own)
    threading = tf.config.threading
    found = [threading.get_intra_op_parallelism_threads(), threading.get_inter_op_parallelism_threads()]
    say("yes: {} threads within and {} between operators".format(*found))
    change_arguments(session.BaseSession, functools.partial(session_at, say, cores()))


def keep_at(say, module, name, number, own):
    """Set a number of threads, and again where the program sets another."""
    set_number = getattr(module, name)

    @functools.wraps(set_number)
    def replaced(num_threads):
        own[name] = num_threads
        same = set(own.values()) <= {number, 0}
        say(THE_SAME if same else f"yes: {number} threads instead of the script's {num_threads}")

    set_number(number)
    setattr(module, name, replaced)


def session_at(say, number, made, arguments):
    """A session, which has threads of its own: by the program's settings else as many as cores."""
    own = arguments.get("config")
    before = [getattr(own, name, 0) for name in THREADS]
    if set(before) == {number}:
        return say(THE_SAME)
    config = tf.compat.v1.ConfigProto()
    if own is not None:
        config.CopyFrom(own)
    for name in THREADS:
        setattr(config, name, number)
    text = f"yes: a session of {number} threads within and between operators"
    text += " instead of the script's {} and {}".format(*before) if any(before) else ""
    return {"config": config}, lambda said: say(text if said.startswith("yes") else said)


def tensorflow_data(say):
    """Data sets that map in parallel and prefetch."""
    iterate = dataset_ops.DatasetV2.__iter__

    @functools.wraps(iterate)
    def iterated(self):
        if "Prefetch" in type(self).__name__:
            say("no: the script prefetches")
            return iterate(self)
        if not tf.executing_eagerly():
            return iterate(self)
        options = tf.data.Options()
        options.autotune.enabled = True
        options.experimental_optimization.map_parallelization = True
        changed = self.with_options(options).prefetch(tf.data.AUTOTUNE)
        say("yes: parallel maps, and a prefetch after {}".format(type(self).__name__.strip("_")))
        return iterate(changed)

    dataset_ops.DatasetV2.__iter__ = iterated


def tensorflow_graph(say):
    """Functions made by tf.function run as graphs, whatever the program asks for; options_keras.py has models."""
    own = tf.config.run_functions_eagerly

    @functools.wraps(own)
    def replaced(run_eagerly):
        own(False)
        if run_eagerly:
            say("yes: functions run as graphs")

    replaced(False)
    tf.config.run_functions_eagerly = replaced
