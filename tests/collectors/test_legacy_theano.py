"""Theano programs under their collector, in the environment that `make legacy` builds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from legacy import TRAINING, collect, compiled, described, opened, program, python, rows
from promised import promised


@pytest.fixture(scope="module")
def lenet_theano(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in Theano, collected once."""
    folder = tmp_path_factory.mktemp("theano")
    done = collect("theano", folder, TRAINING / "lenet_theano.py", "--steps", "8", "--batch", "8", **compiled())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nchw\n")
    assert promised(done.stdout)["updated"]
    return folder


def test_theano_steps_and_facts(lenet_theano):
    about = described(lenet_theano)
    assert (about["framework"], about["framework_version"]) == ("theano", "1.0.5")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    connection = opened(lenet_theano)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]
    assert rows(connection, "SELECT * FROM quality") == []
    # What was measured lies in the measured calls, one after the other from their start: all that the steps were busy.
    laid, ops = 0, rows(connection, "SELECT start_ns, end_ns FROM ops ORDER BY ALL")
    for begin, end in rows(connection, "SELECT start_ns, end_ns FROM ranges WHERE domain = 'call' ORDER BY 1"):
        spans = [(op_begin, op_end) for op_begin, op_end in ops if begin <= op_begin <= end]
        assert [op_begin for op_begin, _ in spans] == [begin, *(op_end for _, op_end in spans[:-1])]
        assert len(spans) > 20 and spans[-1][1] <= end
        laid += spans[-1][1] - begin
    assert rows(connection, "SELECT CAST(sum(busy_ns) AS BIGINT) FROM steps") == [(laid,)]


def test_theano_layers_algorithms_and_passes(lenet_theano):
    connection = opened(lenet_theano)
    calls = """SELECT layer, direction, algorithm, input_shape, filter_shape, count(*) FROM conv_calls
        GROUP BY ALL ORDER BY ALL"""
    small, large = ([8, 1, 28, 28], [20, 1, 5, 5]), ([8, 20, 12, 12], [50, 20, 5, 5])
    assert rows(connection, calls) == [
        ("conv1", "fprop", "explicit_gemm", *small, 3),
        ("conv1", "wgrad", "explicit_gemm", *small, 3),
        ("conv2", "dgrad", "explicit_gemm", *large, 3),
        ("conv2", "fprop", "explicit_gemm", *large, 3),
        ("conv2", "wgrad", "explicit_gemm", *large, 3),
    ]
    biases = "SELECT layer, phase, count(*) FROM ops WHERE category = 'bias' GROUP BY ALL ORDER BY ALL"
    found = rows(connection, biases)
    assert {layer for layer, _, _ in found} == {"conv1", "conv2", "fc1", "fc2"}
    assert {phase for _, phase, _ in found} == {"forward", "backward"}
    updates = "SELECT DISTINCT layer, category FROM ops WHERE phase = 'optimizer' ORDER BY 1"
    assert rows(connection, updates) == [(name, "optimizer") for name in ("conv1", "conv2", "fc1", "fc2")]


def test_theano_functions_keep_their_results_errors_and_profile(tmp_path):
    body = """
import numpy as np, theano, theano.tensor as tt
x = tt.matrix("x")
w = theano.shared(np.ones((3, 2)), name="fc.W")
double = theano.function([x], 2 * tt.dot(x, w), profile=True)
other = theano.function([x], x.sum(), name="other")
seen = []
for step in range(9):
    seen.append((double(np.full((4, 3), step)).sum(), float(other(np.ones((2, 2))))))
    try:
        double(np.ones((4, 5)))
    except ValueError as error:
        seen.append("ValueError")
print(seen == [each for step in range(9) for each in ((48.0 * step, 4.0), "ValueError")])
print(double.profile.fct_callcount, sum(double.profile.apply_time.values()) > 0, double.fn.allow_gc)
print(other.fn.time_thunks, sum(other.fn.call_times))
"""
    bare = subprocess.run(
        [python("theano"), program(tmp_path, body)], capture_output=True, text=True, env={**os.environ, **compiled()}
    )
    done = collect("theano", tmp_path, program(tmp_path, body), **compiled())
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout), done.stderr
    about = described(tmp_path)
    assert about["steps"] == {"source": "forward", "first": 3, "recorded": 3, "between": []}
    connection = opened(tmp_path)
    products = "SELECT count(*), count(step) FROM ops WHERE category = 'gemm'"
    assert rows(connection, products) == [(3, 3)]
    calls = "SELECT name, count(*) FROM ranges WHERE domain = 'call' GROUP BY 1 ORDER BY 1"
    assert dict(rows(connection, calls))["other"] == 3


def test_theano_padding_in_every_spelling(tmp_path):
    body = """
import numpy as np, theano, theano.tensor as tt
from theano.tensor.nnet import conv2d
x = tt.tensor4("x")
w = theano.shared(np.ones((4, 3, 3, 3), "float32"), name="conv.W")
modes = ["valid", "half", "full", 1, (1, 2), ((1, 2), (0, 0))]
function = theano.function([x], [conv2d(x, w, border_mode=mode) for mode in modes])
for step in range(9):
    function(np.ones((2, 3, 8, 8), "float32"))
"""
    flags = {"THEANO_FLAGS": compiled()["THEANO_FLAGS"] + ",floatX=float32"}
    done = collect("theano", tmp_path, program(tmp_path, body), **flags)
    assert done.returncode == 0, done.stderr
    connection = opened(tmp_path)
    found = rows(connection, "SELECT padding, count(*) FROM conv_calls WHERE step = 3 GROUP BY 1 ORDER BY 1")
    # What differs before and after is not a padding of the tables.
    assert found == [([0, 0], 1), ([1, 1], 2), ([1, 2], 1), ([2, 2], 1), (None, 1)]


def test_theano_layers_with_momentum(tmp_path):
    body = """
import numpy as np, theano, theano.tensor as tt
from theano.tensor.nnet import conv2d
x = tt.tensor4("x")
w = theano.shared(np.ones((4, 3, 3, 3), "float32"), name="conv1.W")
dense = theano.shared(np.ones((144, 2), "float32"), name="W_fc")
loss = tt.dot(tt.tanh(conv2d(x, w)).flatten(2), dense).mean()
updates = []
for each in (w, dense):
    velocity = theano.shared(0 * each.get_value(), name=each.name + ".velocity")
    change = 0.9 * velocity - 0.01 * tt.grad(loss, each)
    updates += [(velocity, change), (each, each + change)]
train = theano.function([x], loss, updates=updates)
for step in range(9):
    train(np.ones((2, 3, 8, 8), "float32"))
"""
    flags = {"THEANO_FLAGS": compiled()["THEANO_FLAGS"] + ",floatX=float32"}
    done = collect("theano", tmp_path, program(tmp_path, body), **flags)
    assert done.returncode == 0, done.stderr
    assert described(tmp_path)["model"]["parameters"] == 4 * 27 + 288
    connection = opened(tmp_path)
    calls = "SELECT layer, direction, count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    assert rows(connection, calls) == [("conv1", "fprop", 3), ("conv1", "wgrad", 3)]
    layers = "SELECT DISTINCT layer FROM ops WHERE layer IS NOT NULL ORDER BY 1"
    assert rows(connection, layers) == [("conv1",), ("fc",)]
