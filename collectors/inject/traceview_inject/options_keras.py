"""Options for a Keras program: one function for each, called when Keras was imported."""

import functools

import keras


def tensorflow_graph(say):
    """Models that are to run eagerly run as graphs."""
    for kind in keras.Model.__mro__ if keras.backend.backend() == "tensorflow" else ():
        own = vars(kind).get("run_eagerly")
        if isinstance(own, property) and own.fset:
            kind.run_eagerly = own.setter(functools.partial(set_graph, say, own.fset))


def set_graph(say, assign, model, is_eager):
    """Assign False to a model, whatever the program assigns."""
    assign(model, False)
    if is_eager:
        say(f"yes: {type(model).__name__} runs as a graph")
