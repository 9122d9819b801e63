"""Real programs of old frameworks under the collectors, in the environments that `make legacy` builds.

TRACEVIEW_LEGACY names the folder of those environments; a framework without one is a skip.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from traceview import store

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "samples" / "training"
FOLDER = os.environ.get("TRACEVIEW_LEGACY")


def python(name: str) -> Path:
    """The interpreter of an environment; a skip, said, where there is none."""
    found = None if FOLDER is None else ROOT / FOLDER / name
    if found is None or not (found / ".installed").exists():
        pytest.skip(f"no environment for {name}; `make legacy` builds it and runs this test")
    return found / "bin" / "python"


def collect(name: str, folder: Path, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python WORDS` under `traceview collect` in an environment, the capture in `folder/capture`."""
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--wait", "2", "--steps", "3", "--"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables, "PYTHONPATH": str(ROOT)}
    words = (*command, python(name), *words)
    return subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


def described(folder: Path) -> dict[str, Any]:
    """What the capture says of its first rank."""
    rank: dict[str, Any] = json.loads((folder / "capture" / "capture.json").read_text())["ranks"][0]
    return rank


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """The capture's views."""
    return store.open_capture(folder / "capture")


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def program(folder: Path, body: str) -> Path:
    """A script in `folder`."""
    path = folder / "program.py"
    path.write_text(body)
    return path


@pytest.fixture(scope="module")
def lenet_mxnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in Gluon, collected once."""
    folder = tmp_path_factory.mktemp("mxnet")
    done = collect("mxnet", folder, TRAINING / "lenet_mxnet.py", "--steps", "8", "--batch", "8", "--threads", "1")
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first == "lenet: 431080 parameters, batch 8, cpu, nchw" and last.startswith("step 8: loss ")
    assert [path.name for path in folder.iterdir()] == ["capture"]
    return folder


def test_mxnet_steps_and_facts(lenet_mxnet):
    about = described(lenet_mxnet)
    assert (about["framework"], about["framework_version"]) == ("mxnet", "1.9.1")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["model"]["parameter_dtypes"] == ["float32"]
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
    connection = opened(lenet_mxnet)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]
    phases = "SELECT DISTINCT name FROM ranges WHERE kind = 'phase' ORDER BY 1"
    assert rows(connection, phases) == [("backward",), ("forward",), ("optimizer",)]
    assert rows(connection, "SELECT * FROM quality") == []


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
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
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


@pytest.fixture(scope="module")
def lenet_tensorflow1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in a graph, collected once."""
    folder = tmp_path_factory.mktemp("tensorflow1")
    words = (TRAINING / "lenet_tensorflow1.py", "--steps", "8", "--batch", "8", "--threads", "1")
    done = collect("tensorflow1", folder, *words)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first == "lenet: 431080 parameters, batch 8, cpu, nhwc" and last.startswith("step 8: loss ")
    return folder


def test_tensorflow1_steps_and_facts(lenet_tensorflow1):
    about = described(lenet_tensorflow1)
    assert (about["framework"], about["framework_version"]) == ("tensorflow", "1.15.5")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
    connection = opened(lenet_tensorflow1)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]
    assert rows(connection, "SELECT * FROM quality") == []


def test_tensorflow1_layers_also_of_fused_operators(lenet_tensorflow1):
    connection = opened(lenet_tensorflow1)
    calls = "SELECT layer, direction, count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    assert rows(connection, calls) == [
        ("conv1", "fprop", 3),
        ("conv1", "wgrad", 3),
        ("conv2", "dgrad", 3),
        ("conv2", "fprop", 3),
        ("conv2", "wgrad", 3),
    ]
    fused = "SELECT name, layer, count(*) FROM ops WHERE name LIKE '%:\\_Fused%' ESCAPE '\\' GROUP BY ALL ORDER BY ALL"
    assert rows(connection, fused) == [
        ("conv1/BiasAdd:_FusedConv2D", "conv1", 3),
        ("conv2/BiasAdd:_FusedConv2D", "conv2", 3),
        ("fc2/BiasAdd:_FusedMatMul", "fc2", 3),
        ("relu1:_FusedMatMul", "fc1", 3),
    ]


def test_tensorflow1_keras_is_followed(tmp_path):
    body = """
import numpy as np
from tensorflow import keras
model = keras.Sequential([
    keras.layers.Conv2D(4, 3, activation="relu", name="conv1", input_shape=(12, 12, 1)),
    keras.layers.Flatten(),
    keras.layers.Dense(5, name="fc"),
])
model.compile(optimizer="sgd", loss="mse")
x, y = np.ones((64, 12, 12, 1), "float32"), np.zeros((64, 5), "float32")
print(len(model.fit(x, y, batch_size=8, verbose=0).history["loss"]))
"""
    done = collect("tensorflow1", tmp_path, program(tmp_path, body))
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    about = described(tmp_path)
    assert about["model"]["parameters"] == 4 * 9 + 4 + 400 * 5 + 5
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
    layers = "SELECT DISTINCT layer, direction FROM conv_calls ORDER BY ALL"
    assert rows(opened(tmp_path), layers) == [("conv1", "fprop"), ("conv1", "wgrad")]


def test_tensorflow1_a_program_that_traces_its_runs_keeps_its_traces(tmp_path):
    body = """
import numpy as np, tensorflow as tf
double = 2 * tf.placeholder(tf.float32, (None, 3), name="x")
with tf.train.MonitoredSession() as session:
    for step in range(9):
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if step == 5 else None
        metadata = tf.RunMetadata() if step == 5 else None
        session.run(double, {"x:0": np.ones((1, 3))}, options=options, run_metadata=metadata)
        if metadata:
            print(len(metadata.step_stats.dev_stats) > 0)
"""
    done = collect("tensorflow1", tmp_path, program(tmp_path, body))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    about = described(tmp_path)
    assert about["steps"]["source"] == "forward" and about["ended_by"] == "the program's own trace of a run"
    # The first run of a kind is no step: it may be preparation.
    assert (about["steps"]["recorded"], about["model"]["batch"]) == (1, 1)


@pytest.fixture(scope="module")
def lenet_cntk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in CNTK, collected once."""
    folder = tmp_path_factory.mktemp("cntk")
    done = collect("cntk", folder, "-W", "ignore", TRAINING / "lenet_cntk.py", "--steps", "8", "--batch", "8", **mpi())
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first == "lenet: 431080 parameters, batch 8, cpu, nchw" and last.startswith("step 8: loss ")
    assert "forward avg" not in done.stderr
    return folder


def mpi() -> dict[str, str]:
    """Where CNTK's environment keeps its MPI."""
    return {"LD_LIBRARY_PATH": str(python("cntk").parents[1] / "lib-mpi")}


def test_cntk_steps_and_facts(lenet_cntk):
    about = described(lenet_cntk)
    assert (about["framework"], about["framework_version"], about["device"]) == ("cntk", "2.7", "cpu")
    assert (about["model"]["parameters"], about["model"]["batch"]) == (431_080, 8)
    assert about["model"]["input"]["shape"] == [8, 1, 28, 28]
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
    assert rows(opened(lenet_cntk), "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]


def test_cntk_times_layers_forward_and_backward(lenet_cntk):
    named = """SELECT layer, kind, list(DISTINCT direction ORDER BY direction), any_value(n) FROM layer_times
        WHERE layer NOT SIMILAR TO '[A-Z].*' GROUP BY ALL ORDER BY layer, kind"""
    both = ["backward", "forward"]
    kinds = {"conv": ("bias", "conv"), "fc": ("bias", "gemm"), "pool": ("pooling",), "relu": ("activation",)}
    layers = ("conv1", "conv2", "fc1", "fc2", "pool1", "pool2", "relu1", "tanh1", "tanh2")
    expected = [(layer, kind, both, 3) for layer in layers for kind in kinds.get(layer[:-1], ("activation",))]
    assert rows(opened(lenet_cntk), named) == expected


def test_cntk_output_errors_and_own_timing_stay_the_programs(tmp_path):
    body = """
import os, sys
import cntk as C, numpy as np
from cntk.debugging import debug
x = C.input_variable(4)
net = C.layers.Dense(2)(x)
loss = C.reduce_sum(net)
trainer = C.Trainer(net, (loss, None), [C.sgd(net.parameters, C.learning_parameter_schedule(0.1))])
OWN
for step in range(8):
    trainer.train_minibatch({x: np.ones((3, 4), np.float32)})
    os.write(2, b"err %d\\n" % step)
trainer.print_node_timing()
sys.exit(5)
"""
    done = collect("cntk", tmp_path, "-W", "ignore", program(tmp_path, body.replace("OWN", "")), **mpi())
    assert (done.returncode, "exit code 5" in done.stderr) == (4, True), done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("err ")] == [f"err {n}" for n in range(8)]
    assert rows(opened(tmp_path), "SELECT count(*) FROM steps") == [(3,)]
    (tmp_path / "own").mkdir()
    own = program(tmp_path / "own", body.replace("OWN", "debug.set_node_timing(True)"))
    done = collect("cntk", tmp_path / "own", "-W", "ignore", own, **mpi())
    assert "given up: the program times its nodes itself" in done.stderr and "(fwd# 8|bwd# 8)" in done.stderr
