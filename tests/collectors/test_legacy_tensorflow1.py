"""TensorFlow 1 programs under their collector, in the environment that `make legacy` builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from legacy import TRAINING, collect, described, opened, program, rows


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
