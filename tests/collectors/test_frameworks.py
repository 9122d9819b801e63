"""Real TensorFlow, JAX, Keras and ONNX Runtime programs under the collectors, with the interpreter that has them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import duckdb
import pytest
from asked import rows
from framework_programs import PYTHON, QUIET, ROOT, SAMPLES, described, need, opened, program, run

from traceview import store


def steps(connection: duckdb.DuckDBPyConnection) -> list[int]:
    return [row[0] for row in rows(connection, "SELECT step FROM steps ORDER BY 1")]


@pytest.fixture(scope="module")
def lenet_tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in a tf.function, collected once."""
    need("tensorflow")
    folder = tmp_path_factory.mktemp("tensorflow")
    done = run(folder, SAMPLES / "training" / "lenet_tensorflow.py", "--steps", "8", "--batch", "8", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nhwc\n")
    assert "onednn" not in done.stdout
    return folder


def test_tensorflow_steps_and_facts(lenet_tensorflow):
    about = described(lenet_tensorflow)
    assert (about["framework"], about["model"]["parameters"], about["model"]["batch"]) == ("tensorflow", 431_080, 8)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    assert about["cost"]["bare_step_ns"] > 0
    assert steps(opened(lenet_tensorflow)) == [3, 4, 5]


def test_tensorflow_primitives_lie_in_their_operators_and_biases_are_fused(lenet_tensorflow):
    if "rank-0000.onednn.log" not in described(lenet_tensorflow)["files"]:
        pytest.skip("this TensorFlow runs no oneDNN here")
    connection = opened(lenet_tensorflow)
    assert rows(connection, "SELECT count(*) > 0, count(*) FILTER (op_id IS NULL OR step IS NULL) FROM primitives") == [
        (True, 0)
    ]
    calls = "SELECT DISTINCT layer, direction, algorithm FROM conv_calls ORDER BY 1, 2"
    expected = [("conv1", "fprop"), ("conv1", "wgrad"), ("conv2", "dgrad"), ("conv2", "fprop"), ("conv2", "wgrad")]
    assert rows(connection, calls) == [(layer, direction, "direct") for layer, direction in expected]
    log = (lenet_tensorflow / "capture" / "raw" / "rank-0000.onednn.log").read_text().splitlines()
    assert all(line.startswith("onednn_verbose,") for line in log)
    forward = [line for line in log if ",convolution," in line and ",forward_training," in line]
    assert len(forward) == 3 * 2 and all(" bia:f32:" in line for line in forward)


def test_tensorflow_lines_are_those_of_the_graph_and_gradients_have_their_forward_lines(tmp_path):
    need("tensorflow")
    body = """
import tensorflow as tf
image, filters, weight = tf.ones((4, 16, 16, 3)), tf.Variable(tf.ones((3, 3, 3, 8))), tf.Variable(tf.ones((8, 5)))

def convolved(x):
    return tf.nn.conv2d(x, filters, 1, "SAME")

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = convolved(x)
        y = tf.nn.tanh(y)
        y = tf.matmul(tf.reduce_mean(y, [1, 2]), weight)
        loss = tf.reduce_sum(y)
    gradients = tape.gradient(loss, [filters, weight])
    for variable, gradient in zip([filters, weight], gradients):
        variable.assign_sub(0.01 * gradient)

for number in range(9):
    step(image)
"""
    script = program(tmp_path, body)
    done = run(tmp_path, script, options=["--stacks"])
    assert done.returncode == 0, done.stderr
    text = script.read_text(encoding="utf-8").splitlines()
    query = """SELECT DISTINCT regexp_extract(o.name, '([^/:]*)(:.*)?$', 1), l.line, l.function
        FROM raw.ops o JOIN source_lines l ON l.op_id = o.id WHERE l.file LIKE '%program.py'"""
    found = {name: (text[line - 1].strip(), function) for name, line, function in rows(opened(tmp_path), query)}
    convolution = ('return tf.nn.conv2d(x, filters, 1, "SAME")', "convolved")
    assert found["Conv2D"] == found["Conv2DBackpropFilter"] == convolution
    assert found["Tanh"] == found["TanhGrad"] == ("y = tf.nn.tanh(y)", "step")
    assert found["MatMul"][0] == "y = tf.matmul(tf.reduce_mean(y, [1, 2]), weight)"
    assert found["AssignSubVariableOp"][0] == "variable.assign_sub(0.01 * gradient)"


def test_output_of_c_code_and_children_stay_as_they_are_under_tensorflow(tmp_path):
    need("tensorflow")
    body = """
import ctypes, os, subprocess, sys
import tensorflow as tf
libc = ctypes.CDLL(None)
w = tf.Variable(tf.ones((3, 3, 1, 4)))

@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(tf.ones((2, 8, 8, 1)), w, 1, "SAME")))
    w.assign_sub(0.01 * tape.gradient(loss, w))

for number in range(9):
    step()
    libc.printf(b"from C %d\\n", number)
    print("from Python", number, flush=True)
subprocess.run([sys.executable, "-c", "import os; print(os.environ.get('ONEDNN_VERBOSE'), flush=True)"])
"""
    done = run(tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for source in ("C", "Python"):
        found = [line for line in lines if line.startswith(f"from {source} ")]
        assert found == [f"from {source} {number}" for number in range(9)]
    assert len(lines) == 19 and "None" in lines
    assert described(tmp_path)["steps"]["source"] == "optimizer"


def test_tensorflow_eager_training_and_its_own_profiler(tmp_path):
    need("tensorflow", "keras")
    body = """
import tensorflow as tf, keras
layer = keras.layers.Dense(3)
optimizer = keras.optimizers.SGD(0.1)
for number in range(20):
    if number == 5:
        tf.profiler.experimental.start("own")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.ones((2, 4))))
    optimizer.apply_gradients(zip(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables))
tf.profiler.experimental.stop()
"""
    done = run(tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    about = described(tmp_path)
    assert (about["ended_by"], about["steps"]["recorded"]) == ("the program's own profiler", 2)
    assert steps(opened(tmp_path)) == [3, 4]
    assert list((tmp_path / "own").rglob("*.xplane.pb"))


def test_tensorflow_inference_counts_calls(tmp_path):
    need("tensorflow")
    body = """
import tensorflow as tf
double = tf.function(lambda x: 2 * x)
for _ in range(9):
    double(tf.ones((4, 5)))
"""
    done = run(tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    assert described(tmp_path)["steps"] == {"source": "forward", "first": 3, "recorded": 3, "between": []}
    assert described(tmp_path)["model"]["batch"] == 4


@pytest.fixture(scope="module")
def lenet_jax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in one compiled function, collected once."""
    need("jax")
    folder = tmp_path_factory.mktemp("jax")
    done = run(folder, SAMPLES / "training" / "lenet_jax.py", "--steps", "8", "--batch", "8", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lenet: 431080 parameters, batch 8, cpu, nhwc\n")
    return folder


def test_jax_steps_layers_and_facts(lenet_jax):
    about = described(lenet_jax)
    assert (about["framework"], about["model"]["parameters"], about["model"]["batch"]) == ("jax", 431_080, 8)
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    connection = opened(lenet_jax)
    assert steps(connection) == [3, 4, 5]
    layers = {row[0] for row in rows(connection, "SELECT DISTINCT layer FROM conv_calls")}
    assert layers == {"conv1", "conv2"}


def test_jax_functions_keep_what_they_are(tmp_path):
    need("jax")
    body = """
import functools, pickle
import jax, jax.numpy as jnp

@functools.partial(jax.jit, static_argnames="scale")
def step(state, x, scale=1):
    "A step."
    return {"w": state["w"] - scale * x.sum(), "b": state["b"] + 1}

class Model:
    @jax.jit
    def __call__(self, x):
        return inner(x)

jax.tree_util.register_pytree_node(Model, lambda model: ((), None), lambda rest, parts: Model())
inner = jax.jit(lambda x: 2 * x)
print(step.__name__, step.__doc__, hasattr(step.lower({"w": jnp.ones(3), "b": jnp.ones(2)}, jnp.ones(3)), "compile"))
print(jax.pmap(jax.jit(lambda x: x.sum()))(jnp.ones((1, 2))))
print(Model()(jnp.ones(2)), jax.grad(lambda x: inner(x).sum())(jnp.ones(2)), jax.vmap(inner)(jnp.ones((2, 1))))
state = {"w": jnp.ones(3), "b": jnp.ones(2)}
for _ in range(9):
    state = step(state, inner(jnp.ones(3)), scale=2)
print(state)
"""
    path = program(tmp_path, body)
    bare = subprocess.run([PYTHON, path], capture_output=True, text=True, env={**os.environ, **QUIET})
    done = run(tmp_path, path)
    assert (done.returncode, done.stdout) == (0, bare.stdout), done.stderr
    # The helper that is called more often than the step is none.
    assert described(tmp_path)["steps"] == {"source": "optimizer", "first": 3, "recorded": 3, "between": []}
    assert described(tmp_path)["model"]["parameters"] == 5


def test_a_jax_function_that_gives_back_its_parameters_as_they_were_evaluates(tmp_path):
    """As Flax' `nnx.jit` gives all back that an evaluation was given, here before training and within it."""
    need("jax")
    body = """
import jax, jax.numpy as jnp

@jax.jit
def eval_step(state, metrics, x):
    with jax.named_scope("evaluated"):
        loss = (x @ state["w"] + state["b"]).sum()
    return state, jax.tree.map(lambda metric: metric + loss, metrics)

@jax.jit
def train_step(state, x):
    gradients = jax.grad(lambda state: ((x @ state["w"] + state["b"]) ** 2).sum())(state)
    return jax.tree.map(lambda array, gradient: array - 0.01 * gradient, state, gradients)

state, metrics = {"w": jnp.ones((4, 5)), "b": jnp.ones(5)}, {"loss": 0.0}
for number in range(12):
    if number % 4 == 0:
        for _ in range(8):
            _, metrics = eval_step(state, metrics, jnp.ones((64, 4)))
    state = train_step(state, jnp.ones((8, 4)))
"""
    done = run(tmp_path, program(tmp_path, body))
    assert done.returncode == 0 and "second optimizer" not in done.stderr, done.stderr
    about = described(tmp_path)
    assert (about["steps"]["source"], about["steps"]["recorded"], about["cost"]["bare_steps"]) == ("optimizer", 3, 6)
    assert (about["model"]["name"], about["model"]["parameters"], about["model"]["batch"]) == ("train_step", 25, 8)
    connection = opened(tmp_path)
    assert steps(connection) == [3, 4, 5]
    named = "SELECT count(DISTINCT step), count(*) FROM ops WHERE regexp_matches(name, '{}') AND step IS NOT NULL"
    assert rows(connection, named.format("eval_step|evaluated")) == [(0, 0)]
    assert rows(connection, named.format("train_step"))[0][0] == 3


def test_calls_of_a_function_that_trains_under_jax_pmap_are_steps(tmp_path):
    need("jax")
    body = """
import jax, jax.numpy as jnp

def train_step(state, x):
    gradients = jax.grad(lambda state: ((x @ state["w"] + state["b"]) ** 2).sum())(state)
    return jax.tree.map(lambda array, gradient: array - 0.01 * jax.lax.pmean(gradient, "devices"), state, gradients)

train_step = jax.pmap(train_step, axis_name="devices")
state = {"w": jnp.ones((2, 4, 5)), "b": jnp.ones((2, 5))}
for _ in range(12):
    state = train_step(state, jnp.ones((2, 8, 4)))
print(state["b"][0, 0] == state["b"][1, 0])
"""
    done = run(tmp_path, program(tmp_path, body), XLA_FLAGS="--xla_force_host_platform_device_count=2")
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    about = described(tmp_path)
    assert (about["steps"]["source"], about["steps"]["recorded"], about["cost"]["bare_steps"]) == ("optimizer", 3, 6)
    model = about["model"]
    assert (model["name"], model["parameters"], model["input"]["shape"]) == ("train_step", 25, [16, 4])
    assert model["batch"] == 16
    # On both devices the product of 8 rows, and its gradient by the weights.
    products = "SELECT step, sum(matrix_flop) FROM op_costs WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1"
    assert rows(opened(tmp_path), products) == [(step, 2 * 2 * 2 * 8 * 4 * 5) for step in (3, 4, 5)]


def test_a_compiled_loss_under_jax_grad_ends_a_step_at_each_call(tmp_path):
    """Here within a map over two models, and where JAX would raise an error if a tracer outlived the call."""
    need("jax")
    body = """
import jax, jax.numpy as jnp
jax.config.update("jax_check_tracer_leaks", True)
loss_of = jax.jit(lambda weights, x: ((x @ weights) ** 2).sum())
weights = jnp.ones((2, 4, 5))
for _ in range(12):
    losses, gradients = jax.vmap(jax.value_and_grad(loss_of), (0, None))(weights, jnp.ones((8, 4)))
    weights = weights - 0.01 * gradients
print(weights.shape)
"""
    done = run(tmp_path, program(tmp_path, body))
    assert (done.returncode, done.stdout) == (0, "(2, 4, 5)\n"), done.stderr
    about = described(tmp_path)
    assert (about["steps"]["source"], about["steps"]["recorded"], about["cost"]["bare_steps"]) == ("forward", 3, 5)
    # The product and its gradient by the weights, of both models.
    products = "SELECT step, sum(matrix_flop) FROM op_costs WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1"
    assert rows(opened(tmp_path), products) == [(step, 2 * 2 * 2 * 8 * 4 * 5) for step in (3, 4, 5)]


def test_jax_programs_that_mark_their_steps_keep_their_marks(tmp_path):
    need("jax")
    body = """
import jax, jax.numpy as jnp
double = jax.jit(lambda x: 2 * x)
for number in range(9):
    with jax.profiler.StepTraceAnnotation("mine", step_num=100 + number):
        for _ in range(3):
            double(jnp.ones(3))
"""
    done = run(tmp_path, program(tmp_path, body))
    assert done.returncode == 0, done.stderr
    assert described(tmp_path)["steps"]["source"] == "call"
    assert steps(opened(tmp_path)) == [104, 105, 106]


@pytest.mark.parametrize("backend", ["tensorflow", "torch", "jax"])
def test_keras_fit_on_every_back_end(tmp_path, backend):
    need("keras", backend)
    body = """
import keras, numpy as np
model = keras.Sequential([
    keras.Input((12, 12, 1)),
    keras.layers.Conv2D(4, 3, activation="relu", name="conv1"),
    keras.layers.Flatten(),
    keras.layers.Dense(5, name="fc"),
])
model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.ones((64, 12, 12, 1), "float32"), np.zeros(64, "int32")
model.fit(x[:40], y[:40], batch_size=8, verbose=0)
for _ in range(4):
    model.train_on_batch(x[:8], y[:8])
"""
    done = run(tmp_path, program(tmp_path, body), KERAS_BACKEND=backend)
    assert done.returncode == 0, done.stderr
    about = described(tmp_path)
    assert about["framework"] == backend
    assert (about["model"]["name"], about["model"]["parameters"]) == ("Sequential", 4 * 9 + 4 + 400 * 5 + 5)
    assert (about["model"]["batch"], about["steps"]["source"]) == (8, "optimizer")
    connection = opened(tmp_path)
    assert steps(connection) == [3, 4, 5]
    # XLA's compiler leaves some filter gradients without a name.
    layers = [row[0] for row in rows(connection, "SELECT DISTINCT layer FROM conv_calls WHERE layer IS NOT NULL")]
    assert len(layers) == 1 and "conv1" in layers[0]
    if backend == "tensorflow":
        assert layers == ["sequential/conv1"]  # as in the model, where the graph's scope is sequential_1/conv1_1
        assert rows(connection, "SELECT DISTINCT filter_shape FROM conv_calls") == [([4, 1, 3, 3],)]
        assert ("optimizer",) in rows(connection, "SELECT DISTINCT layer FROM ops")


def test_what_keras_validates_on_jax_is_in_no_step_of_fit(tmp_path):
    """Before fit and within it, each time more batches than another optimizer may step in a round."""
    need("keras", "jax")
    body = """
import keras, numpy as np
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(5, activation="relu"), keras.layers.Dense(3)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
x, y = np.ones((96, 6), "float32"), np.ones((96, 3), "float32")
model.evaluate(x, y, batch_size=12, verbose=0)
model.fit(x, y, batch_size=8, epochs=3, validation_data=(x, y), verbose=0)
"""
    done = run(tmp_path, program(tmp_path, body), options=["--wait", "14"], KERAS_BACKEND="jax")
    assert done.returncode == 0 and "second optimizer" not in done.stderr, done.stderr
    about = described(tmp_path)
    assert (about["steps"]["source"], about["steps"]["first"], about["steps"]["recorded"]) == ("optimizer", 15, 3)
    assert (about["model"]["batch"], about["cost"]["bare_steps"]) == (8, 13 + 17)
    connection = opened(tmp_path)
    # Of each layer the product of its output and those of its gradients; the input has none.
    products = "SELECT step, sum(matrix_flop) FROM op_costs WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1"
    assert rows(connection, products) == [(step, 2 * 8 * (2 * 6 * 5 + 3 * 5 * 3)) for step in (15, 16, 17)]


KERAS_APPLIES = """
import keras, numpy as np, torch
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(6), keras.layers.Dense(5)])
optimizer, loss = keras.optimizers.Adam(1e-3), keras.losses.MeanSquaredError()
x, y = np.ones((16, 8), "float32"), np.ones((16, 5), "float32")
for _ in range(9):
    model.zero_grad()
    loss(y, model(x)).backward()
    with torch.no_grad():
        optimizer.apply([variable.value.grad for variable in model.trainable_weights], model.trainable_weights)
"""


def test_keras_optimizer_in_a_loop_of_torch_ends_steps(tmp_path):
    need("keras", "torch")
    done = run(tmp_path, program(tmp_path, KERAS_APPLIES), KERAS_BACKEND="torch")
    assert done.returncode == 0, done.stderr
    about = described(tmp_path)
    assert (about["framework"], about["steps"]["source"], about["model"]["batch"]) == ("torch", "optimizer", 16)
    connection = opened(tmp_path)
    assert steps(connection) == [3, 4, 5]
    assert rows(connection, "SELECT count(*) FROM ranges WHERE name = 'backward' AND step IS NOT NULL") == [(3,)]


ASKS = """
import os, pathlib, signal, time
raw, seen = pathlib.Path(os.environ["TRACEVIEW_DIR"]), []
def done(step):
    # The first recording is written: its parent, traceview, is asked for another, which has to come of itself.
    found = [path.parent.parent.name for path in raw.glob("**/rank-0000.meta.json")]
    if len(found) == 1 and not seen:
        seen.append(step)
        os.kill(os.getppid(), signal.SIGUSR1)
    time.sleep(0.01)
    return len(found) > 1 or time.time() > end
end = time.time() + 300
"""
JAX_LOOP = """
import jax, jax.numpy as jnp
train = jax.jit(lambda state, x: state - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).sum())(state))
state, step = jnp.ones((8, 8)), 0
while not done(step):
    state, step = jax.block_until_ready(train(state, jnp.ones((4, 8)))), step + 1
for _ in range(40):
    state = jax.block_until_ready(train(state, jnp.ones((4, 8))))
"""
KERAS_LOOP = """
import keras, numpy as np
class Asks(keras.callbacks.Callback):
    n = last = 0
    def on_train_batch_end(self, batch, logs=None):
        self.n += 1
        if not self.last and done(self.n):
            self.last = self.n + 40
        if self.n == self.last:
            self.model.stop_training = True
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(5)])
model.compile(optimizer="sgd", loss="mse")
model.fit(np.ones((400000, 8), "float32"), np.ones((400000, 5), "float32"), batch_size=4, verbose=0, callbacks=[Asks()])
"""


@pytest.mark.parametrize("name", ["jax", "keras on tensorflow", "keras on jax", "keras on torch"])
def test_a_signal_asks_for_a_capture(tmp_path, name):
    """Two captures of three steps each: the first ones, and those after SIGUSR1 came to traceview."""
    framework, _, backend = name.partition(" on ")
    need(framework, *filter(None, [backend]))
    path = program(tmp_path, ASKS + (KERAS_LOOP if backend else JAX_LOOP))
    done = run(tmp_path, path, options=["--on-signal"], KERAS_BACKEND=backend)
    assert done.returncode == 0 and done.stderr.count("recorded 3 steps") == 2, done.stderr
    first, second = sorted((tmp_path / "capture").iterdir())
    assert first.name == "step-000003" and int(second.name.removeprefix("step-")) > 6
    for folder in (first, second):
        connection, start = store.open_capture(folder), int(folder.name.removeprefix("step-"))
        assert steps(connection) == [start, start + 1, start + 2]
        assert rows(connection, "SELECT count(*) > 0 FROM ops") == [(True,)]


def test_onnxruntime_runs_are_steps(tmp_path):
    need("onnxruntime", "onnx")
    done = run(tmp_path, SAMPLES / "training" / "alexnet_onnxruntime.py", "--steps", "8", "--batch", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("alexnet: 62378344 parameters, batch 1, cpu, nchw\n")
    about = described(tmp_path)
    assert (about["framework"], about["model"]["name"], about["model"]["batch"]) == ("onnxruntime", "alexnet", 1)
    assert about["steps"] == {"source": "forward", "first": 3, "recorded": 3, "between": []}
    connection = opened(tmp_path)
    assert len(steps(connection)) == 3
    # The trace does not say where its zero lies; the session does.
    origins = rows(
        connection,
        "SELECT DISTINCT origin_unix_ns - $1 BETWEEN 0 AND 600000000000 FROM captures".replace(
            "$1", str(about["zero_unix_ns"])
        ),
    )
    assert origins == [(True,)]
    assert rows(connection, "SELECT count(*) FROM conv_calls") == [(15,)]
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("alexnet_tensorflow", 62_378_344),
        ("alexnet_jax", 62_378_344),
        ("alexnet_keras", 62_378_344),
        ("vgg_a_tensorflow", 132_863_336),
        ("googlenet_tensorflow", 6_998_552),
        ("resnet50_tensorflow", 25_557_032),
        ("vgg_a_jax", 132_863_336),
        ("vgg_a_keras", 132_863_336),
        ("googlenet_keras", 6_998_552),
        ("resnet50_keras", 25_557_032),
    ],
)
def test_the_larger_samples_train(name, parameters):
    need(name.rpartition("_")[2])
    words = [PYTHON, SAMPLES / "training" / f"{name}.py", "--batch", "2", "--steps", "2", "--device", "cpu"]
    done = subprocess.run(words, env={**os.environ, **QUIET}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert f": {parameters} parameters, batch 2, " in first and rest[1].startswith("step 2: loss ")


def test_primitives_find_their_operators_among_several_threads(tmp_path):
    """GoogLeNet's branches run side by side: each of its 57 convolutions still has its own primitives."""
    need("tensorflow")
    script = SAMPLES / "training" / "googlenet_tensorflow.py"
    done = run(tmp_path, script, "--steps", "7", "--batch", "1", "--device", "cpu", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    if "rank-0000.onednn.log" not in described(tmp_path)["files"]:
        pytest.skip("this TensorFlow runs no oneDNN here")
    connection = opened(tmp_path)
    passes = "SELECT direction, count(*) FROM conv_calls GROUP BY 1 ORDER BY 1"
    assert rows(connection, passes) == [("dgrad", 3 * 56), ("fprop", 3 * 57), ("wgrad", 3 * 57)]
    # A reorder tells nothing of its caller: where two convolutions run at once it is nobody's, and counted. On a busy
    # machine two products or two convolutions of one pass may lie in each other's time: so are they then.
    lost = "SELECT kind, op_link, count(*) FROM primitives WHERE op_id IS NULL GROUP BY ALL"
    counts = {(kind, link): count for kind, link, count in rows(connection, lost)}
    assert {link for _, link in counts} <= {"several at once"}
    ((without,),) = rows(connection, "SELECT count(*) FROM conv_calls WHERE main_ns = 0")
    assert without <= counts.get(("convolution", "several at once"), 0) <= 3 * 170 // 10


def test_opencv_runs_of_a_caffe_model_are_steps(tmp_path):
    need("cv2")
    words = (SAMPLES / "training" / "alexnet_opencv.py", "--steps", "7", "--threads", "1")
    done = run(tmp_path, *words, "--unfused")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("alexnet: 62378344 parameters, batch 1, cpu, nchw\n")
    about = described(tmp_path)
    assert (about["framework"], about["model"]["parameters"], about["model"]["batch"]) == ("opencv", 62_378_344, 1)
    assert (about["threads"], about["steps"]["source"]) == (1, "forward")
    connection = opened(tmp_path)
    assert steps(connection) == [3, 4, 5]
    found = dict(rows(connection, "SELECT layer, kind FROM layer_times WHERE n = 3 AND dur_ns > 0"))
    assert {found[f"conv{number}"] for number in range(1, 6)} == {"conv"}
    assert {found[f"relu{number}"] for number in range(1, 8)} == {"activation"}


def test_opencv_without_a_network_is_no_framework(tmp_path):
    need("cv2")
    done = run(tmp_path, program(tmp_path, "import cv2\nprint(cv2.getNumThreads() > 0)"))
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert "imported no framework" in done.stderr


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_steps_are_timed_without_a_profiler_and_give_loss_and_parameters(framework: str, tmp_path: Path) -> None:
    """Two runs with equal seeds give equal numbers; JAX' keys are the program's own anyway."""
    need(framework)
    timing = {"TRACEVIEW_MODE": "times", "TRACEVIEW_WAIT": "1", "TRACEVIEW_STEPS": "3", "TRACEVIEW_STOP_AFTER": "1"}
    found = []
    for name in ("first", "second"):
        environment = {**os.environ, **QUIET, **timing, "TRACEVIEW_SEED": "1", "TRACEVIEW_DIR": str(tmp_path / name)}
        environment["PYTHONPATH"] = str(ROOT / "collectors" / "inject")
        script = SAMPLES / "training" / f"lenet_{framework}.py"
        done = subprocess.run([PYTHON, str(script), "--steps", "30"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and "ONEDNN" not in done.stdout.upper().replace("TF_ENABLE_ONEDNN", ""), done.stderr
        found.append(json.loads((tmp_path / name / "raw" / "rank-0000.times.json").read_text()))
    first, second = found
    assert len(first["steps"]) == 3 and all(step["wall_ns"] > 0 for step in first["steps"])
    assert 1 < first["loss"] < 4 and len(first["norms"]) == 8
    assert (first["loss"], first["checksum"]) == (second["loss"], second["checksum"])
