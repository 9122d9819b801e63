"""Facts read from a model: the largest set of variables, and the first array of a call."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Array:
    """As much of an array as is looked at."""

    shape: tuple
    dtype: str = "float32"


@pytest.fixture
def model():
    from traceview_inject.model import Model

    return Model()


def test_nothing_seen_is_no_model(model):
    assert model.facts() is None


def test_the_largest_set_of_variables_is_the_model(model):
    for shapes in ([(3, 2)], [(4, 5), (5,)], [(1,)]):
        model.see_variables([Array(shape) for shape in shapes])
    assert (model.facts()["parameters"], model.facts()["parameter_dtypes"]) == (25, ["float32"])


def test_the_first_array_with_a_dimension_is_the_input(model):
    model.see_arguments([None, Array(()), {"x": [3, Array((None, 7), "int32")]}, Array((2, 2))])
    assert model.facts()["input"] == {"shape": [None, 7], "dtype": "int32"}
    model.see_arguments([Array((9, 9))])
    assert model.facts()["batch"] is None


def test_an_owner_counts_more_and_is_not_kept_alive(model):
    class Net:
        trainable_variables = (Array((2, 3)),)

    owner = Net()
    model.see_variables([Array((100,))])
    model.see_owner(owner)
    assert (model.facts()["name"], model.facts()["parameters"]) == ("Net", 6)
    del owner
    assert model.owner() is None
