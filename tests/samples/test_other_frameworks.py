"""The samples of other frameworks do what their options say, in the environments that have them.

TRACEVIEW_TEST_PYTHON and TRACEVIEW_LEGACY name these, as `make frameworks` and `make legacy` do; tests skip where none
is.
"""

from __future__ import annotations

import importlib
import os
import subprocess
from pathlib import Path

import legacy
import pytest
from promised import promised

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples" / "training"
MODELS = {"lenet": 431_080, "autoencoder": 415_310, "lstm": 1_411_842, "alexnet": 62_378_344}
LEGACY = ("mxnet", "tensorflow1", "theano", "cntk")
SHORT = {"lstm": ("--length", "12")}


def run(framework: str, model: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A script of two steps on a batch of two, in its framework's environment."""
    variables = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    if framework in LEGACY:
        python = str(legacy.python(framework))
        variables |= legacy.compiled() if framework == "theano" else {}
        if framework == "cntk":
            variables["LD_LIBRARY_PATH"] = str(Path(python).parents[1] / "lib-mpi")
    else:
        python = os.environ.get("TRACEVIEW_TEST_PYTHON", "")
        if not python:
            pytest.skip("no environment of frameworks; `make frameworks` runs this test")
    name, _, backend = framework.partition("-")
    words = (*SHORT.get(model, ()), *(("--backend", backend) if backend else ()), *words)
    command = [python, "-W", "ignore", str(SAMPLES / f"{model}_{name}.py"), "--batch", "2", "--steps", "2", *words]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=600)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("framework", ["tensorflow", "jax", "keras-tensorflow", "keras-jax", "keras-torch", *LEGACY])
def test_gradient_leaves_parameters_and_training_changes_them(framework: str, model: str) -> None:
    for mode in ("gradient", "train"):
        done = run(framework, model, "--mode", mode, "--threads", "1")
        assert done.returncode == 0, done.stderr
        last = promised(done.stdout)
        assert (last["framework"], last["model"], last["mode"]) == (framework.split("-")[0], model, mode)
        assert (last["parameters"], last["threads"], last["batch"]) == (MODELS[model], 1, 2)
        assert last["updated"] == (mode == "train") and last["loss"] > 0


@pytest.mark.long
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_the_layout_of_images_is_nothing_to_words(layout: str) -> None:
    done = run("keras-jax", "lstm", "--mode", "forward", "--threads", "1", "--layout", layout)
    assert done.returncode == 0, done.stderr
    last = promised(done.stdout)
    assert (last["parameters"], last["layout"]) == (MODELS["lstm"], None)


@pytest.mark.long
@pytest.mark.parametrize("framework", ["tensorflow", "jax", "keras-torch", *LEGACY, "onnxruntime", "opencv"])
def test_forward_has_no_loss(framework: str) -> None:
    done = run(framework, "lenet", "--mode", "forward", "--threads", "1")
    assert done.returncode == 0, done.stderr
    last = promised(done.stdout)
    assert (last["loss"], last["updated"], last["parameters"], last["threads"]) == (None, False, 431_080, 1)


@pytest.mark.long
@pytest.mark.parametrize("framework", ["tensorflow", "jax", "mxnet", "tensorflow1", "cntk", "onnxruntime", "opencv"])
def test_two_threads_are_taken(framework: str) -> None:
    done = run(framework, "lenet", "--mode", "forward", "--threads", "2")
    assert promised(done.stdout)["threads"] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("framework", "words", "sentence"),
    [
        ("onnxruntime", ("--mode", "train"), "ONNX Runtime computes the forward pass alone"),
        ("opencv", ("--layout", "nhwc"), "OpenCV takes images in nchw alone"),
        ("mxnet", ("--layout", "nhwc"), "MXNet convolves on a CPU in nchw alone"),
        ("tensorflow1", ("--layout", "nchw"), "TensorFlow 1 convolves on a CPU in nhwc alone"),
        ("theano", ("--layout", "nhwc"), "Theano has images in nchw alone"),
        ("cntk", ("--layout", "nhwc"), "CNTK has images in nchw alone"),
        ("jax", ("--threads", "100000"), "this framework has one thread for each core, and there are "),
    ],
)
def test_what_cannot_be_is_a_sentence(framework: str, words: tuple[str, ...], sentence: str) -> None:
    done = run(framework, "lenet", *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(sentence)


def test_files_of_models_have_the_parameters_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SAMPLES)
    timing = importlib.import_module("timing")
    for name, layers in (("lenet", timing.LENET_LAYERS), ("alexnet", timing.ALEXNET_LAYERS)):
        sizes = [each.shape[0] * (1 + each.shape[1] * (each.shape[2] ** 2 if each.stride else 1)) for each in layers]
        assert sum(sizes) == MODELS[name] == timing.MODELS[name].parameters
