"""Code that the Keras 3 samples share: a loop of whole steps, or of what a step of each back-end consists of."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import timing

if timing.early("--backend"):
    os.environ["KERAS_BACKEND"] = timing.early("--backend")

import keras
import numpy as np

BACKENDS = ("tensorflow", "jax", "torch")


def options(doc: str | None, model: timing.Model) -> argparse.ArgumentParser:
    """The options of a Keras sample."""
    parser = timing.options(doc, model, "nhwc")
    parser.add_argument("--backend", choices=BACKENDS, help="default: what KERAS_BACKEND names, or Keras itself")
    return parser


def tensorflow(args: argparse.Namespace) -> tuple[bool, int]:
    """Sets threads; whether there is a GPU, and the threads."""
    import tensorflow as tf

    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    has_gpu = bool(tf.config.list_physical_devices("GPU"))
    return has_gpu, tf.config.threading.get_intra_op_parallelism_threads() or timing.cores()


def torch(args: argparse.Namespace) -> tuple[bool, int]:
    """Set up PyTorch; return whether it computes on a GPU, and its threads."""
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    return torch.cuda.is_available(), torch.get_num_threads()


def jax(args: argparse.Namespace) -> tuple[bool, int]:
    """Set up JAX, which takes its threads from the cores that the process may use; return as `torch` does."""
    import jax

    if args.threads:
        timing.use_cores(args.threads)
    return jax.default_backend() != "cpu", timing.cores()


def tensorflow_gradient(network: keras.Model, loss_of: Callable) -> Callable:
    """A function of inputs and labels that returns the loss; all gradients are there then."""
    import tensorflow as tf

    @tf.function(jit_compile=network.jit_compile)
    def gradient(inputs: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(inputs, training=True))
        return loss, tape.gradient(loss, [each.value for each in network.trainable_variables])

    return lambda inputs, labels: gradient(inputs, labels)[0]


def torch_gradient(network: keras.Model, loss_of: Callable) -> Callable:
    """Return a function that computes loss and gradients with PyTorch."""

    def gradient(inputs: Any, labels: Any) -> Any:
        network.zero_grad()
        loss = loss_of(labels, network(inputs, training=True))
        loss.backward()
        return loss.detach()

    return gradient


def jax_gradient(network: keras.Model, loss_of: Callable) -> Callable:
    """Return a function that computes loss and gradients with JAX."""
    import jax

    def stateless(weights: Any, others: Any, inputs: Any, labels: Any) -> Any:
        scores, others = network.stateless_call(weights, others, inputs, training=True)
        return loss_of(labels, scores), others

    compiled = jax.jit(jax.value_and_grad(stateless, has_aux=True))

    def gradient(inputs: Any, labels: Any) -> Any:
        state = ([each.value for each in of] for of in (network.trainable_variables, network.non_trainable_variables))
        (loss, others), _ = jax.block_until_ready(compiled(*state, inputs, labels))
        for variable, value in zip(network.non_trainable_variables, others, strict=True):
            variable.assign(value)
        return loss

    return gradient


def train(
    make: Callable[[], keras.Model], model: timing.Model, args: argparse.Namespace, longest: int | None = None
) -> None:
    """Train, or do what `--mode` says, with one random batch. The loss of training is the mean of the steps so far."""
    backend = keras.backend.backend()
    if args.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    has_gpu, threads = {"tensorflow": tensorflow, "torch": torch, "jax": jax}[backend](args)
    if args.device == "cuda" and not has_gpu:
        timing.refuse(f"Keras' back-end {backend} has no GPU")
    keras.config.set_image_data_format("channels_last" if args.layout == "nhwc" else "channels_first")
    keras.utils.set_random_seed(0)
    network = make()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(keras.optimizers.SGD(timing.RATE, momentum=model.momentum), loss_of)
    arrays = timing.batch_of(model, args.batch, args.layout, longest)
    *inputs, labels = (keras.ops.convert_to_tensor(each) for each in arrays)
    inputs = inputs[0] if len(inputs) == 1 else inputs

    def forward() -> float:
        return network.predict_on_batch(inputs).flat[0]

    def whole() -> float:
        loss = network.train_on_batch(inputs, labels)
        if backend == "jax":
            import jax

            jax.block_until_ready([each.value for each in network.trainable_variables])
        return loss

    gradients = {"tensorflow": tensorflow_gradient, "torch": torch_gradient, "jax": jax_gradient}
    gradient = gradients[backend](network, loss_of)
    steps = {"forward": forward, "gradient": lambda: float(gradient(inputs, labels)), "train": whole}
    timing.measure(
        model, args, steps[args.mode],
        lambda: float(np.ravel(keras.ops.convert_to_numpy(network.trainable_variables[-1]))[0]),
        framework="keras", backend=backend, version=keras.__version__, threads=threads,
        device=args.device or ("cuda" if has_gpu else "cpu"),
        parameters=sum(int(np.prod(each.shape)) for each in network.trainable_variables),
    )  # fmt: skip
