"""TensorFlow 1 programs under their collector, in the environment that `make legacy` builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from legacy import TRAINING, collect, described, opened, program, rows
from promised import promised


@pytest.fixture(scope="module")
def lenet_tensorflow1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in a graph, collected once."""
    folder = tmp_path_factory.mktemp("tensorflow1")
    words = (TRAINING / "lenet_tensorflow1.py", "--steps", "8", "--batch", "8", "--threads", "1")
    done = collect("tensorflow1", folder, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nhwc\n")
    assert promised(done.stdout)["updated"]
    return folder


def test_tensorflow1_steps_and_facts(lenet_tensorflow1):
    about = described(lenet_tensorflow1)
    assert (about["framework"], about["framework_version"]) == ("tensorflow", "1.15.5")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
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


def test_tensorflow1_shapes_of_every_kind_of_convolution(tmp_path):
    body = """
import numpy as np, tensorflow as tf
tf.compat.v1.logging.set_verbosity("ERROR")
flat, deep = tf.placeholder(tf.float32, (None, 13, 13, 4)), tf.placeholder(tf.float32, (None, 6, 6, 6, 2))

def weights(name, *shape):
    return tf.get_variable(name, shape, initializer=tf.random_normal_initializer())

nn = tf.nn
sides = [[0, 0], [2, 1], [0, 3], [0, 0]]
results = [
    nn.conv2d(flat, weights("a", 3, 3, 4, 6), [1, 2, 2, 1], "SAME", name="same/Conv2D"),
    nn.conv2d(flat, weights("b", 5, 5, 4, 6), [1, 2, 2, 1], "VALID", name="valid/Conv2D"),
    nn.conv2d(flat, weights("c", 3, 3, 4, 6), [1, 1, 1, 1], sides, name="explicit/Conv2D"),
    nn.depthwise_conv2d_native(flat, weights("e", 3, 3, 4, 2), [1, 1, 1, 1], "SAME", name="depthwise/Conv2D"),
    nn.conv3d(deep, weights("f", 3, 3, 3, 2, 5), [1, 1, 1, 1, 1], "VALID", name="deep/Conv3D"),
]
# Its gradients are not to be had on a CPU.
apart = nn.conv2d(flat, weights("d", 3, 3, 4, 6), [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1], name="apart/Conv2D")
# A loop whose images shrink: no one shape is that of all its convolutions.
shrinking = tf.while_loop(
    lambda at, image: at < 3, lambda at, image: (at + 1, nn.conv2d(image, weights("g", 3, 3, 4, 4), [1] * 4, "VALID")),
    (0, flat), (tf.TensorShape(()), tf.TensorShape((None, None, None, 4))))[1]
loss = sum(tf.reduce_sum(result) for result in results)
train = tf.train.GradientDescentOptimizer(0.0).minimize(loss, var_list=tf.trainable_variables()[:5])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(8):
        session.run([train, apart, shrinking], {flat: np.ones((2, 13, 13, 4)), deep: np.ones((2, 6, 6, 6, 2))})
"""
    done = collect("tensorflow1", tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    calls = """SELECT DISTINCT regexp_replace(layer, '.*/', ''), input_shape, filter_shape, output_shape, stride,
        padding, dilation, groups FROM conv_calls WHERE flop IS NOT NULL ORDER BY ALL"""
    image, filters = [2, 4, 13, 13], [6, 4, 3, 3]
    assert rows(opened(tmp_path), calls) == [
        ("apart", image, filters, [2, 6, 13, 13], [1, 1], [2, 2], [2, 2], 1),
        ("deep", [2, 2, 6, 6, 6], [5, 2, 3, 3, 3], [2, 5, 4, 4, 4], [1, 1, 1], [0, 0, 0], [1, 1, 1], 1),
        ("depthwise", image, [8, 1, 3, 3], [2, 8, 13, 13], [1, 1], [1, 1], [1, 1], 4),
        ("explicit", image, filters, [2, 6, 14, 14], [1, 1], [2, 0], [1, 1], 1),
        ("same", image, filters, [2, 6, 7, 7], [2, 2], [1, 1], [1, 1], 1),
        ("valid", image, [6, 4, 5, 5], [2, 6, 5, 5], [2, 2], [0, 0], [1, 1], 1),
    ]
    ways = "SELECT direction, count(DISTINCT layer) FROM conv_calls WHERE flop IS NOT NULL GROUP BY 1 ORDER BY 1"
    assert rows(opened(tmp_path), ways) == [("fprop", 6), ("wgrad", 5)]
    loop = "SELECT count(*), count(flop) FROM conv_calls WHERE flop IS NULL"
    assert rows(opened(tmp_path), loop) == [(9, 0)]


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
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    layers = "SELECT DISTINCT layer, direction, filter_shape FROM conv_calls ORDER BY ALL"
    shape = [4, 1, 3, 3]
    assert rows(opened(tmp_path), layers) == [("conv1", "fprop", shape), ("conv1", "wgrad", shape)]


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
    # The first run of a kind is not a step: it may be preparation.
    assert (about["steps"]["recorded"], about["model"]["batch"]) == (1, 1)
