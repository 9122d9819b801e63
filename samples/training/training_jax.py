"""Code that the JAX samples share: weights by layer, and a loop over one compiled function."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import timing

Parameters = dict[str, dict[str, jax.Array]]
Network = Callable[..., jax.Array]
"""Scores of parameters, inputs, and a key for dropout: None where there is none."""


def initial(shapes: dict[str, tuple[int, ...]]) -> Parameters:
    """Weights and biases by layer; the last dimension of a shape is that of what comes out."""
    keys = jax.random.split(jax.random.key(0), len(shapes))
    return {
        name: {
            "weight": jax.random.uniform(key, shape, minval=-1, maxval=1) / math.sqrt(math.prod(shape[:-1])),
            "bias": jnp.zeros(shape[-1]),
        }
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def dense(parameters: Parameters, name: str, x: jax.Array) -> jax.Array:
    """A fully connected layer."""
    with jax.named_scope(name):
        return x @ parameters[name]["weight"] + parameters[name]["bias"]


def convolution(
    parameters: Parameters, name: str, x: jax.Array, layout: str, stride: int = 1, padding: int = 0
) -> jax.Array:
    """A convolution with its bias."""
    weight, bias = parameters[name]["weight"], parameters[name]["bias"]
    numbers = (layout.upper(), "HWIO", layout.upper())
    with jax.named_scope(name):
        pads = [(padding, padding)] * 2
        y = jax.lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=numbers)
        return y + (bias if layout == "nhwc" else bias[:, None, None])


def maximum(name: str, x: jax.Array, layout: str, size: int) -> jax.Array:
    """Max pooling with stride 2, without padding."""
    window, strides = ((1, size, size, 1), (1, 2, 2, 1)) if layout == "nhwc" else ((1, 1, size, size), (1, 1, 2, 2))
    with jax.named_scope(name):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, "VALID")


def dropped(name: str, x: jax.Array, key: jax.Array | None) -> jax.Array:
    """Dropout of one half."""
    if key is None:
        return x
    with jax.named_scope(name):
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), 2 * x, 0)


def prepared(args: argparse.Namespace) -> str:
    """The device; JAX takes its threads from the cores that the process may use when it starts to compute."""
    if args.threads:
        timing.use_cores(args.threads)
    if args.device:
        jax.config.update("jax_platforms", args.device)
    try:
        return "cpu" if jax.default_backend() == "cpu" else "cuda"
    except (RuntimeError, AssertionError):  # of JAX, or of the lack of its plugin
        return timing.refuse("this JAX has no CUDA device")


def train(
    network: Network,
    weights: Callable[[], Parameters],
    model: timing.Model,
    args: argparse.Namespace,
    longest: int | None = None,
) -> None:
    """Train, or do what `--mode` says, with one random batch."""
    device = prepared(args)
    *inputs, labels = map(jnp.asarray, timing.batch_of(model, args.batch, args.layout, longest))
    parameters = weights()
    velocity = jax.tree.map(jnp.zeros_like, parameters) if model.momentum else None
    last = next(reversed(parameters))

    def loss_of(parameters: Parameters, inputs: list[jax.Array], labels: jax.Array, key: jax.Array) -> jax.Array:
        scores = network(parameters, *inputs, key)
        with jax.named_scope("loss"):
            return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1).mean()

    forward = jax.jit(lambda parameters, inputs: network(parameters, *inputs, None))
    gradient = jax.jit(jax.value_and_grad(loss_of))

    @jax.jit
    def update(state: tuple, inputs: list[jax.Array], labels: jax.Array, key: jax.Array) -> tuple:
        parameters, velocity = state
        loss, gradients = jax.value_and_grad(loss_of)(parameters, inputs, labels, key)
        with jax.named_scope("optimizer"):
            if velocity is not None:
                gradients = velocity = jax.tree.map(lambda v, g: model.momentum * v + g, velocity, gradients)
            return (jax.tree.map(lambda w, g: w - timing.RATE * g, parameters, gradients), velocity), loss

    state = parameters, velocity
    keys = list(jax.random.split(jax.random.key(1), args.steps))

    def step() -> float:
        nonlocal state
        if args.mode == "forward":
            return jax.block_until_ready(forward(state[0], inputs))[0, 0].item()
        own = keys.pop()
        if args.mode == "gradient":
            loss, _ = jax.block_until_ready(gradient(state[0], inputs, labels, own))
        else:
            state, loss = jax.block_until_ready(update(state, inputs, labels, own))
        return loss.item()

    timing.measure(
        model, args, step, lambda: state[0][last]["bias"][0].item(),
        framework="jax", version=jax.__version__, device=device, threads=timing.cores(),
        parameters=sum(leaf.size for leaf in jax.tree.leaves(parameters)),
    )  # fmt: skip
