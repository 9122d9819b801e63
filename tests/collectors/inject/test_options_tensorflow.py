"""Options in real TensorFlow, JAX and ONNX Runtime programs (`make frameworks`): what each did, and what was seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from traceview.experiments.tune import options
from traceview.experiments.tune.options import Facts

PYTHON = os.environ.get("TRACEVIEW_TEST_PYTHON")
pytestmark = pytest.mark.skipif(not PYTHON, reason="TRACEVIEW_TEST_PYTHON names no Python with the frameworks")

NOT_SEEN = "no: the script does nothing that it is about"
END = """
print(json.dumps({"seen": seen, "said": sys.modules["traceview_inject.times"].SEEN}))
"""
TENSORFLOW = """
import json, sys
import tensorflow as tf
from tensorflow.python.util import _pywrap_util_port

tf.config.threading.set_intra_op_parallelism_threads(1)
images = tf.data.Dataset.range(8).map(lambda n: tf.fill((16, 16, 3), tf.cast(n, tf.float32) / 8)).batch(4)
filters = tf.Variable(tf.fill((3, 3, 3, 8), 0.1))

@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(batch, filters, 1, "SAME")) ** 2)
    filters.assign_sub(0.1 * tape.gradient(loss, filters))
    return loss

for batch in images:
    loss = step(batch)
seen = {"loss": float(loss), "onednn": _pywrap_util_port.IsMklEnabled()}
seen["threads"] = tf.config.threading.get_intra_op_parallelism_threads()
"""
JAX = """
import json, os, sys
import jax, jax.numpy as jnp

@jax.jit
def step(weights, images):
    return weights - 0.1 * jax.grad(lambda weights: jnp.mean((images @ weights) ** 2))(weights)

weights, images = jnp.ones((64, 64)), jnp.ones((8, 64))
for _ in range(4):
    weights = step(weights, images)
folder = jax.config.jax_compilation_cache_dir
seen = {"sum": float(weights.sum()), "cached": len(os.listdir(folder)) if folder else 0}
seen["threads"] = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else None
seen["precision"] = jax.config.jax_default_matmul_precision
"""
ONNX_RUNTIME = """
import json, sys
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper

shape = helper.make_tensor_value_info
nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]
graph = helper.make_graph(nodes, "g", [shape("x", TensorProto.FLOAT, [4])], [shape("z", TensorProto.FLOAT, [4])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
options = None
if "bad" in sys.argv:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.enable_mem_pattern = 1, False
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
for _ in range(4):
    (found,) = session.run(None, {"x": np.full(4, 1e-40, np.float32)})
used = session.get_session_options()
seen = {"sum": float(found.sum()), "level": str(used.graph_optimization_level).split(".")[1]}
seen.update(threads=used.intra_op_num_threads, pattern=used.enable_mem_pattern)
"""


def ran(framework: str, program: str, names: list[str], inject: Path, *words: str, cores: int = 2) -> tuple[dict, dict]:
    """Return what the program saw, and the results of the options."""
    facts = Facts(framework, "", "cpu", cores, options.installed(), os.environ["TRACEVIEW_DIR"] + "-cache")
    Path(facts.scratch).mkdir(exist_ok=True)
    environment = options.environment(options.named(names), facts, {**os.environ, "PYTHONPATH": str(inject)})
    command = [str(PYTHON), "-c", program + END, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seen"], found["said"]


def test_tensorflow(inject: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    tried = ["tensorflow_onednn_on", "tensorflow_threads", "tensorflow_data"]
    seen, said = ran("tensorflow", TENSORFLOW, tried, inject, cores=cores)
    assert seen["onednn"] is True and seen["threads"] == cores
    assert all(text.startswith("yes: ") for text in said.values()) and len(said) == 3, said
    other, said = ran("tensorflow", TENSORFLOW, ["tensorflow_onednn_off", "tensorflow_xla"], inject)
    assert other["onednn"] is False and other["threads"] == 1
    assert all(text.startswith("yes: ") for text in said.values()) and len(said) == 2, said
    assert other["loss"] == pytest.approx(seen["loss"], rel=1e-4)


EAGER = """
import json, sys
import keras, tensorflow as tf

tf.config.run_functions_eagerly("functions" in sys.argv)
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
model.compile(loss="mse", run_eagerly="model" in sys.argv)
shown = []
@tf.function
def asked():
    shown.append(tf.executing_eagerly())
    return tf.constant(1)
asked(), asked()
loss = model.fit(tf.ones((8, 4)), tf.zeros((8, 2)), verbose=0).history["loss"][0]
seen = {"loss": loss, "eager": model.run_eagerly, "functions": shown}
"""


def test_what_is_asked_to_run_eagerly_runs_as_a_graph(inject: Path) -> None:
    plain, _ = ran("tensorflow", EAGER, [], inject, "model", "functions")
    assert plain["eager"] is True and plain["functions"] == [True, True]
    for words, said in ((("model",), "yes: Sequential runs as a graph"), ((), NOT_SEEN)):
        seen, found = ran("tensorflow", EAGER, ["tensorflow_graph"], inject, *words)
        assert (seen["eager"], seen["functions"]) == (False, [False])
        assert found["tensorflow_graph"] == said
        assert seen["loss"] == pytest.approx(plain["loss"], rel=1e-5)
    seen, _ = ran("tensorflow", EAGER, ["tensorflow_graph"], inject, "functions")
    assert seen["functions"] == [False]


def test_tune_finds_that_tensorflow_was_started_without_onednn(root: Path, tmp_path: Path) -> None:
    runs, script = tmp_path / "runs", root / "samples" / "training" / "lenet_tensorflow.py"
    words = ["tune", "-o", str(runs), "--budget", "1s", "--limit-steps", "3", "--skip", "threads,malloc,pages"]
    environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"}
    done = traceview(*words, "--", str(PYTHON), str(script), "--steps", "14", environment=environment)
    assert "trying tensorflow_onednn_on" in done.stderr
    query = "SELECT rule, bound, applied FROM raw.tune_options WHERE name = 'tensorflow_onednn_on'"
    (row,) = json.loads(traceview("sql", str(runs), query, "--format", "json", environment=environment).stdout)
    assert row["rule"] == "library_off_on_cpu" and row["bound"] > 1.05
    assert row["applied"].startswith("yes: TF_ENABLE_ONEDNN_OPTS=1")


def traceview(*words: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "traceview", *words], env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done


def test_jax(inject: Path) -> None:
    seen, said = ran("jax", JAX, ["jax_cache", "jax_threads", "jax_vectors", "jax_multi_thread_eigen"], inject)
    assert seen["cached"] > 0 and all(text.startswith("yes: ") for text in said.values()) and len(said) == 4, said
    more, said = ran("jax", JAX, ["jax_threads", "jax_fast_math", "jax_bf16"], inject, cores=8)
    assert more["precision"] == "bfloat16" and len(said) == 3
    assert seen["threads"] is None or more["threads"] > seen["threads"], "XLA made more threads"


@pytest.mark.long
def test_what_a_program_sets_back_is_said_to_have_no_effect(inject: Path) -> None:
    back = 'jax.config.update("jax_default_matmul_precision", "highest")'
    check = '\nfor check in sys.modules["traceview_inject.times"].AT_THE_END:\n    check()\n'
    _, said = ran("jax", f"{JAX}\n{back}{check}", ["jax_bf16", "jax_cache"], inject)
    assert said["jax_bf16"] == "no: jax.config.jax_default_matmul_precision is highest"
    assert said["jax_cache"].startswith("yes: ") and "jax.config.jax_compilation_cache_dir is " in said["jax_cache"]


def test_onnxruntime(inject: Path) -> None:
    tried = [row.name for row in options.load() if row.framework == "onnxruntime"]
    cores = len(os.sched_getaffinity(0))
    seen, said = ran("onnxruntime", ONNX_RUNTIME, tried, inject, "bad")
    assert seen["level"] == "ORT_ENABLE_ALL" and seen["threads"] == cores and seen["pattern"] is True
    assert all(text.startswith("yes: ") for text in said.values()) and len(said) == 5, said
    own, said = ran("onnxruntime", ONNX_RUNTIME, tried, inject)
    chosen = {name for name, text in said.items() if text == "no: it is so already, by the script or by default"}
    assert chosen == {"onnxruntime_graph", "onnxruntime_threads", "onnxruntime_memory"} and own["threads"] == 0
