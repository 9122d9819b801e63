"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import jax
import jax.numpy as jnp

PARAMETERS = 62_378_344
CLASSES = 1000
CONVOLUTIONS = (
    # name, filter (height, width, inputs, outputs), stride, padding, maximum of 3 x 3 after it
    ("conv1", (11, 11, 3, 96), 4, 0, True),
    ("conv2", (5, 5, 96, 256), 1, 2, True),
    ("conv3", (3, 3, 256, 384), 1, 1, False),
    ("conv4", (3, 3, 384, 384), 1, 1, False),
    ("conv5", (3, 3, 384, 256), 1, 1, True),
)
DENSE = (("fc6", (9216, 4096)), ("fc7", (4096, 4096)), ("fc8", (4096, CLASSES)))
KEEP = 0.5
Parameters = dict[str, dict[str, jax.Array]]


def initial(key: jax.Array) -> Parameters:
    """Weights and biases by layer."""
    shapes = {name: shape for name, shape, *_ in [*CONVOLUTIONS, *DENSE]}
    keys = jax.random.split(key, len(shapes))
    return {
        name: {"weight": 0.01 * jax.random.normal(key, shape), "bias": jnp.zeros(shape[-1])}
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def scores(parameters: Parameters, x: jax.Array, key: jax.Array, layout: str) -> jax.Array:
    """Images N x 227 x 227 x 3 (or N x 3 x 227 x 227) to scores N x 1000, with dropout."""
    order = layout.upper()
    window, strides = ((1, 3, 3, 1), (1, 2, 2, 1)) if layout == "nhwc" else ((1, 1, 3, 3), (1, 1, 2, 2))
    for name, _, stride, padding, is_pooled in CONVOLUTIONS:
        weight, bias = parameters[name]["weight"], parameters[name]["bias"]
        with jax.named_scope(name):
            pads = [(padding, padding)] * 2
            numbers = (order, "HWIO", order)
            x = jax.lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=numbers)
            x = x + (bias if layout == "nhwc" else bias[:, None, None])
        with jax.named_scope(f"relu{name[-1]}"):
            x = jax.nn.relu(x)
        if is_pooled:
            with jax.named_scope(f"pool{name[-1]}"):
                x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, "VALID")
    x = x.reshape(x.shape[0], -1)
    for name, _ in DENSE:
        with jax.named_scope(name):
            x = x @ parameters[name]["weight"] + parameters[name]["bias"]
        if name != "fc8":
            with jax.named_scope(f"relu{name[-1]}"):
                x = jax.nn.relu(x)
            with jax.named_scope(f"drop{name[-1]}"):
                key, own = jax.random.split(key)
                x = jnp.where(jax.random.bernoulli(own, KEEP, x.shape), x / KEEP, 0)
    return x


def arguments() -> argparse.Namespace:
    """The options that every training sample has; JAX takes its threads from the cores that the process may use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nhwc", help="order of the images' dimensions")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the time of each second one."""
    args = arguments()
    if args.device:
        jax.config.update("jax_platforms", args.device)
    parameters = initial(jax.random.key(0))
    count = sum(leaf.size for leaf in jax.tree.leaves(parameters))
    assert count == PARAMETERS, count
    shape = (args.batch, 227, 227, 3) if args.layout == "nhwc" else (args.batch, 3, 227, 227)
    images = jax.random.normal(jax.random.key(1), shape)
    labels = jax.random.randint(jax.random.key(2), (args.batch,), 0, CLASSES)
    print(f"alexnet: {count} parameters, batch {args.batch}, {jax.default_backend()}, {args.layout}")

    def loss_of(parameters: Parameters, x: jax.Array, y: jax.Array, key: jax.Array) -> jax.Array:
        found = scores(parameters, x, key, args.layout)
        with jax.named_scope("loss"):
            return -jnp.take_along_axis(jax.nn.log_softmax(found), y[:, None], axis=1).mean()

    @jax.jit
    def step(parameters: Parameters, x: jax.Array, y: jax.Array, key: jax.Array) -> tuple[Parameters, jax.Array]:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y, key)
        with jax.named_scope("optimizer"):
            return jax.tree.map(lambda weight, gradient: weight - 0.01 * gradient, parameters, gradients), loss

    for number in range(1, args.steps + 1):
        start = time.perf_counter()
        parameters, loss = step(parameters, images, labels, jax.random.key(number))
        if number % 2 == 0 or number == args.steps:
            loss = float(loss)  # JAX runs ahead: waiting for a number is waiting for the step.
            print(f"step {number}: loss {loss:.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
