"""MXNet programs under their collector, in the environment that `make legacy` builds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from legacy import TRAINING, collect, described, opened, program, rows
from promised import promised


@pytest.fixture(scope="module")
def lenet_mxnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in Gluon, collected once."""
    folder = tmp_path_factory.mktemp("mxnet")
    done = collect("mxnet", folder, TRAINING / "lenet_mxnet.py", "--steps", "8", "--batch", "8", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nchw\n")
    assert promised(done.stdout)["updated"]
    assert [path.name for path in folder.iterdir()] == ["capture"]
    return folder


def test_mxnet_steps_and_facts(lenet_mxnet):
    about = described(lenet_mxnet)
    assert (about["framework"], about["framework_version"]) == ("mxnet", "1.9.1")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["model"]["parameter_dtypes"] == ["float32"]
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    connection = opened(lenet_mxnet)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]
    phases = "SELECT DISTINCT name FROM ranges WHERE kind = 'phase' ORDER BY 1"
    assert rows(connection, phases) == [("backward",), ("forward",), ("optimizer",)]
    assert rows(connection, "SELECT * FROM quality") == []


def test_mxnet_leaves_the_null_device_alone(lenet_mxnet):
    """MXNet removes the file that it is told to write to last, which root could do to a device."""
    assert Path(os.devnull).is_char_device()
    assert not [path for path in (lenet_mxnet / "capture" / "raw").iterdir() if path.stat().st_size == 0]


def test_mxnet_primitives_lie_in_their_operators(lenet_mxnet):
    connection = opened(lenet_mxnet)
    assert rows(connection, "SELECT count(*) > 0, count(*) FILTER (op_id IS NULL OR step IS NULL) FROM primitives") == [
        (True, 0)
    ]
    owners = "SELECT DISTINCT kind, op_name FROM primitives WHERE kind IN ('convolution', 'inner_product') ORDER BY ALL"
    assert rows(connection, owners) == [
        ("convolution", "Convolution"),
        ("convolution", "_backward_Convolution"),
        ("inner_product", "FullyConnected"),
        ("inner_product", "_backward_FullyConnected"),
    ]


def test_mxnet_layers_forward_and_backward(lenet_mxnet):
    connection = opened(lenet_mxnet)
    calls = "SELECT DISTINCT layer, direction, algorithm, step FROM conv_calls ORDER BY ALL"
    directions = [("conv1", "fprop"), ("conv1", "wgrad"), ("conv2", "dgrad"), ("conv2", "fprop"), ("conv2", "wgrad")]
    found = rows(connection, calls)
    assert sorted({(layer, direction) for layer, direction, _, _ in found}) == directions
    assert {algorithm for _, _, algorithm, _ in found} <= {"direct", "explicit_gemm"}
    assert len(found) == 3 * len(directions)
    # Biases are fused, activations are nodes of their own.
    named = "SELECT DISTINCT layer FROM ops WHERE category = 'activation' AND name LIKE '%Activation' ORDER BY 1"
    assert rows(connection, named) == [("relu1",), ("tanh1",), ("tanh2",)]


GLUON = """
import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class Net(nn.HybridBlock):
    def __init__(self):
        super().__init__(prefix="")
        with self.name_scope():
            self.stem = nn.Conv2D(8, 3, padding=1, prefix="stem_")
            self.left = nn.Conv2D(8, 3, padding=1, prefix="left_")
            self.right = nn.Conv2D(8, 3, padding=1, prefix="right_")
            self.head = nn.Dense(3, prefix="head_")

    def hybrid_forward(self, F, x):
        x = F.relu(self.stem(x))
        return self.head(self.left(x) + self.right(x))


net = Net()
net.initialize()
HYBRIDIZE
trainer = gluon.Trainer(net.collect_params(), "sgd")
for step in range(9):
    with autograd.record():
        loss = net(nd.ones((2, 3, 16, 16))).sum()
    loss.backward()
    trainer.step(2)
print("trained", loss.asscalar() != 0)
"""
LAYERS = """SELECT name, layer, count(*) FROM ops WHERE name IN ('Convolution', '_backward_Convolution') AND step >= 0
    GROUP BY ALL ORDER BY ALL"""


@pytest.mark.parametrize("hybridize", ["net.hybridize()", "net.hybridize(static_alloc=True, static_shape=True)", ""])
def test_mxnet_layers_of_parallel_branches_are_right_or_none(tmp_path, hybridize):
    done = collect("mxnet", tmp_path, program(tmp_path, GLUON.replace("HYBRIDIZE", hybridize)))
    assert (done.returncode, done.stdout) == (0, "trained True\n"), done.stderr
    found = {(name, layer): count for name, layer, count in rows(opened(tmp_path), LAYERS)}
    forward = {layer: count for (name, layer), count in found.items() if name == "Convolution"}
    backward = {layer: count for (name, layer), count in found.items() if name == "_backward_Convolution"}
    every = {"stem": 3, "left": 3, "right": 3}
    if hybridize == "net.hybridize()":  # The graph tells.
        assert forward == backward == every
    elif not hybridize:  # Nothing says in which order the branches' gradients were computed.
        assert (forward, backward) == (every, {None: 9})
    else:  # Operators run in groups: some layers cannot be told, but none is told wrongly.
        assert sum(forward.values()) == sum(backward.values()) == 9
        assert all(layer is None or count == 3 for each in (forward, backward) for layer, count in each.items())


def test_mxnet_module_and_its_fit(tmp_path):
    body = """
import mxnet as mx, numpy as np
x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv1")
x = mx.sym.Activation(x, act_type="relu", name="relu1")
x = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name="fc"), name="softmax")
data = mx.io.NDArrayIter(np.ones((40, 1, 8, 8), "float32"), np.zeros(40, "float32"), 4)
mx.mod.Module(x).fit(data, num_epoch=1)
"""
    done = collect("mxnet", tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    about = described(tmp_path)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    assert (about["model"]["name"], about["model"]["parameters"]) == ("Module", 36 + 4 + 144 * 3 + 3)
    assert (about["model"]["batch"], about["model"]["input"]["shape"]) == (4, [4, 1, 8, 8])
    assert rows(opened(tmp_path), LAYERS) == [("Convolution", "conv1", 3), ("_backward_Convolution", "conv1", 3)]


def test_mxnet_programs_own_profiler_wins(tmp_path):
    body = """
import mxnet as mx
from mxnet.gluon import nn
net = nn.Dense(3)
net.initialize()
for step in range(9):
    if step == 5:
        mx.profiler.set_config(profile_all=True, filename="own.json")
        mx.profiler.set_state("run")
    net(mx.nd.ones((2, 4)))
mx.nd.waitall()
mx.profiler.set_state("stop")
mx.profiler.dump()
"""
    done = collect("mxnet", tmp_path, program(tmp_path, body))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    about = described(tmp_path)
    assert (about["ended_by"], about["steps"]["recorded"]) == ("the program's own profiler", 2)
    assert '"FullyConnected"' in (tmp_path / "own.json").read_text()
    assert rows(opened(tmp_path), "SELECT step FROM steps ORDER BY 1") == [(3,), (4,)]
