"""What the larger TensorFlow samples share: layers that make their weights when first called, options, and a loop.

TensorFlow without Keras; it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import tensorflow as tf


class Layers(tf.Module):
    """Named layers in one order of dimensions; a model is a function of this and of a batch of images."""

    def __init__(self, layout: str) -> None:
        super().__init__()
        self.order = layout.upper()
        self.channels = self.order.index("C")
        self.weights: dict[str, tf.Variable] = {}

    def weight(self, name: str, shape: tuple[int, ...], deviation: float = 0.0, mean: float = 0.0) -> tf.Variable:
        """The variable of this name, made at its first use."""
        if name not in self.weights:
            with tf.init_scope():
                self.weights[name] = tf.Variable(tf.random.normal(shape, mean, deviation))
        return self.weights[name]

    def convolution(self, x: tf.Tensor, name: str, filters: int, size: int, stride: int = 1) -> tf.Tensor:
        """A convolution that keeps the size (divided by the stride), bias and ReLU."""
        with tf.name_scope(name):
            y = self.filtered(x, name, filters, size, stride)
            bias = self.weight(f"{name}/bias", (filters,))
            return tf.nn.relu(tf.nn.bias_add(y, bias, data_format=self.order))

    def normalised(
        self, x: tf.Tensor, name: str, filters: int, size: int, stride: int = 1, is_activated: bool = True
    ) -> tf.Tensor:
        """A convolution, batch normalisation as in training (by the batch's own mean and variance) and ReLU."""
        with tf.name_scope(name):
            y = self.filtered(x, name, filters, size, stride)
            scale, offset = (
                self.weight(f"{name}/scale", (filters,), mean=1.0),
                self.weight(f"{name}/offset", (filters,)),
            )
            y = tf.compat.v1.nn.fused_batch_norm(y, scale, offset, data_format=self.order, is_training=True)[0]
            return tf.nn.relu(y) if is_activated else y

    def filtered(self, x: tf.Tensor, name: str, filters: int, size: int, stride: int) -> tf.Tensor:
        """A convolution alone."""
        inputs = x.shape[self.channels]
        kernel = self.weight(f"{name}/filter", (size, size, inputs, filters), math.sqrt(2 / (inputs * size * size)))
        return tf.nn.conv2d(x, kernel, stride, "SAME", data_format=self.order)

    def dense(self, x: tf.Tensor, name: str, outputs: int, is_activated: bool = False) -> tf.Tensor:
        """A product with a bias, and a ReLU if asked for."""
        with tf.name_scope(name):
            inputs = x.shape[1]
            kernel = self.weight(f"{name}/weight", (inputs, outputs), math.sqrt(2 / inputs))
            y = tf.nn.bias_add(tf.matmul(x, kernel), self.weight(f"{name}/bias", (outputs,)))
            return tf.nn.relu(y) if is_activated else y

    def maximum(self, x: tf.Tensor, name: str, size: int, stride: int) -> tf.Tensor:
        """Max pooling that keeps the border."""
        return tf.nn.max_pool2d(x, size, stride, "SAME", data_format=self.order, name=name)

    def joined(self, parts: list[tf.Tensor], name: str) -> tf.Tensor:
        """Channels one behind the other."""
        return tf.concat(parts, self.channels, name=name)

    def mean(self, x: tf.Tensor, name: str) -> tf.Tensor:
        """Mean over the image."""
        return tf.reduce_mean(x, (1, 2) if self.channels == 3 else (2, 3), name=name)


def flat(x: tf.Tensor) -> tf.Tensor:
    """One row per image."""
    return tf.reshape(x, (x.shape[0], -1))


def options(doc: str | None, batch: int) -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--batch", type=int, default=batch, help=f"images per step (default {batch})")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nhwc", help="memory format; a CPU has nhwc alone"
    )
    parser.add_argument("--threads", type=int, help="CPU threads; default: TensorFlow's own choice")
    return parser.parse_args()


def train(
    name: str, model: Callable[[Layers, tf.Tensor], tf.Tensor], parameters: int, args: argparse.Namespace
) -> None:
    """Train on one batch of random images of 224 x 224 for a few steps; print loss and time of each second one."""
    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    device = args.device or ("cuda" if tf.config.list_physical_devices("GPU") else "cpu")
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    tf.random.set_seed(0)
    layers = Layers(args.layout)
    images = tf.random.normal((args.batch, 224, 224, 3) if args.layout == "nhwc" else (args.batch, 3, 224, 224))
    labels = tf.random.uniform((args.batch,), maxval=1000, dtype=tf.int32)
    tf.function(model).get_concrete_function(layers, tf.TensorSpec(images.shape))  # Makes the weights, runs nothing.
    count = sum(variable.shape.num_elements() for variable in layers.trainable_variables)
    assert count == parameters, count
    print(f"{name}: {count} parameters, batch {args.batch}, {device}, {args.layout}")

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(layers, x)))
        variables = layers.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.001 * gradient)
        return loss

    for number in range(1, args.steps + 1):
        start = time.perf_counter()
        loss = step(images, labels)
        if number % 2 == 0 or number == args.steps:
            print(f"step {number}: loss {float(loss):.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)
