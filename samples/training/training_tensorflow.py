"""Code that the TensorFlow samples share: layers that make their weights when first called, and a loop.

TensorFlow without Keras; it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import tensorflow as tf
import timing

Activation = Callable[[tf.Tensor], tf.Tensor]


class Layers(tf.Module):
    """Named layers in one order of dimensions; a model is a function of this and of a batch of images."""

    def __init__(self, layout: str, is_training: bool) -> None:
        super().__init__()
        self.is_training = is_training
        self.order = layout.upper()
        self.channels = self.order.index("C")
        self.weights: dict[str, tf.Variable] = {}

    def weight(
        self, name: str, shape: tuple[int, ...], deviation: float = 0.0, mean: float = 0.0, trainable: bool = True
    ) -> tf.Variable:
        """The variable of this name, made at its first use."""
        if name not in self.weights:
            with tf.init_scope():
                self.weights[name] = tf.Variable(tf.random.normal(shape, mean, deviation), trainable=trainable)
        return self.weights[name]

    def convolution(
        self,
        x: tf.Tensor,
        name: str,
        filters: int,
        size: int,
        stride: int = 1,
        *,
        padding: str = "SAME",
        activation: Activation | None = tf.nn.relu,
    ) -> tf.Tensor:
        """A convolution with bias and activation; by itself it keeps the size (divided by the stride)."""
        with tf.name_scope(name):
            y = self.filtered(x, name, filters, size, stride, padding)
            y = tf.nn.bias_add(y, self.weight(f"{name}/bias", (filters,)), data_format=self.order)
            return y if activation is None else activation(y)

    def normalised(
        self, x: tf.Tensor, name: str, filters: int, size: int, stride: int = 1, is_activated: bool = True
    ) -> tf.Tensor:
        """A convolution, batch normalisation (by the batch's own mean and variance in training) and ReLU."""
        with tf.name_scope(name):
            y = self.filtered(x, name, filters, size, stride)
            running = [
                self.weight(f"{name}/{statistic}", (filters,), mean=value, trainable=False)
                for statistic, value in (("mean", 0.0), ("variance", 1.0))
            ]
            scale, offset = (
                self.weight(f"{name}/scale", (filters,), mean=1.0),
                self.weight(f"{name}/offset", (filters,)),
            )
            given = {} if self.is_training else {"mean": running[0], "variance": running[1]}
            y, *seen = tf.compat.v1.nn.fused_batch_norm(
                y, scale, offset, **given, data_format=self.order, is_training=self.is_training
            )
            for variable, value in zip(running, seen if self.is_training else (), strict=False):
                variable.assign_add(0.1 * (value - variable))
            return tf.nn.relu(y) if is_activated else y

    def filtered(
        self, x: tf.Tensor, name: str, filters: int, size: int, stride: int, padding: str = "SAME"
    ) -> tf.Tensor:
        """A convolution alone."""
        inputs = x.shape[self.channels]
        kernel = self.weight(f"{name}/filter", (size, size, inputs, filters), math.sqrt(1 / (3 * inputs * size * size)))
        return tf.nn.conv2d(x, kernel, stride, padding, data_format=self.order)

    def dense(self, x: tf.Tensor, name: str, outputs: int, activation: Activation | None = None) -> tf.Tensor:
        """A product with a bias, and an activation if asked for."""
        with tf.name_scope(name):
            inputs = x.shape[1]
            kernel = self.weight(f"{name}/weight", (inputs, outputs), math.sqrt(1 / (3 * inputs)))
            y = tf.nn.bias_add(tf.matmul(x, kernel), self.weight(f"{name}/bias", (outputs,)))
            return y if activation is None else activation(y)

    def maximum(self, x: tf.Tensor, name: str, size: int, stride: int, padding: str = "SAME") -> tf.Tensor:
        """Max pooling; by itself it keeps the border."""
        return tf.nn.max_pool2d(x, size, stride, padding, data_format=self.order, name=name)

    def dropped(self, x: tf.Tensor, name: str, rate: float = 0.5) -> tf.Tensor:
        """Dropout, where this is training."""
        return tf.nn.dropout(x, rate, name=name) if self.is_training else x

    def joined(self, parts: list[tf.Tensor], name: str) -> tf.Tensor:
        """Channels one behind the other."""
        return tf.concat(parts, self.channels, name=name)

    def mean(self, x: tf.Tensor, name: str) -> tf.Tensor:
        """Mean over the image."""
        return tf.reduce_mean(x, (1, 2) if self.channels == 3 else (2, 3), name=name)


def flat(x: tf.Tensor) -> tf.Tensor:
    """One row per image."""
    return tf.reshape(x, (x.shape[0], -1))


def update(
    variable: tf.Variable, gradient: tf.Tensor | tf.IndexedSlices, velocity: tf.Variable | None, momentum: float
) -> None:
    """A step of SGD; of an embedding only the rows that were used change."""
    if isinstance(gradient, tf.IndexedSlices):
        variable.scatter_sub(tf.IndexedSlices(timing.RATE * gradient.values, gradient.indices))
    elif velocity is None:
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=timing.RATE, delta=gradient)
    else:
        tf.raw_ops.ResourceApplyMomentum(
            var=variable.handle, accum=velocity.handle, lr=timing.RATE, grad=gradient, momentum=momentum
        )


def prepared(args: argparse.Namespace) -> str:
    """The device, after threads are set; to be called before TensorFlow computes anything."""
    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    has_gpu = bool(tf.config.list_physical_devices("GPU"))
    if args.device == "cuda" and not has_gpu:
        timing.refuse("this TensorFlow has no GPU")
    if args.device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    tf.random.set_seed(0)
    return args.device or ("cuda" if has_gpu else "cpu")


def train(
    network: Callable[..., tf.Tensor], model: timing.Model, args: argparse.Namespace, longest: int | None = None
) -> None:
    """Train, or do what `--mode` says, with one random batch; `network` makes scores of layers and inputs."""
    device = prepared(args)
    layers = Layers(args.layout, args.mode != "forward")
    *inputs, labels = map(tf.constant, timing.batch_of(model, args.batch, args.layout, longest))
    # Makes the weights, runs nothing.
    tf.function(network).get_concrete_function(layers, *(tf.TensorSpec(each.shape, each.dtype) for each in inputs))
    variables = layers.trainable_variables
    velocities = [tf.Variable(tf.zeros_like(each)) if model.momentum else None for each in variables]

    @tf.function
    def forward(*inputs: tf.Tensor) -> tf.Tensor:
        return network(layers, *inputs)

    @tf.function
    def backward(*batch: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        *inputs, labels = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(layers, *inputs)))
        gradients = tape.gradient(loss, variables)
        if args.mode == "gradient":
            return loss, gradients
        for each in zip(variables, gradients, velocities, strict=True):
            update(*each, model.momentum)
        return loss, []

    def step() -> float:
        return forward(*inputs).numpy().flat[0] if args.mode == "forward" else backward(*inputs, labels)[0].numpy()

    last = list(layers.weights.values())[-1]
    try:
        timing.measure(
            model, args, step, lambda: last.numpy().flat[0],
            framework="tensorflow", version=tf.__version__, device=device,
            threads=tf.config.threading.get_intra_op_parallelism_threads() or timing.cores(),
            parameters=sum(each.shape.num_elements() for each in variables),
        )  # fmt: skip
    except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError):
        if args.layout == "nhwc":
            raise
        timing.refuse(
            "TensorFlow has no nchw on this device; on a CPU it takes oneDNN's operators (TF_ENABLE_ONEDNN_OPTS=1)"
        )
