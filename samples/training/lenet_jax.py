"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, one compiled function per step.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import jax
import jax.numpy as jnp

PARAMETERS = 431_080
CLASSES = 10
SHAPES = {"conv1": (5, 5, 1, 20), "conv2": (5, 5, 20, 50), "fc1": (800, 500), "fc2": (500, CLASSES)}


def initial(key: jax.Array) -> dict[str, dict[str, jax.Array]]:
    """Weights and biases by layer."""
    keys = jax.random.split(key, len(SHAPES))
    return {
        name: {"weight": 0.05 * jax.random.normal(key, shape), "bias": jnp.zeros(shape[-1])}
        for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)
    }


def convolution(x: jax.Array, layer: dict[str, jax.Array], layout: str) -> jax.Array:
    """Convolution with bias, without padding."""
    order = layout.upper()
    bias = layer["bias"] if layout == "nhwc" else layer["bias"][:, None, None]
    return (
        jax.lax.conv_general_dilated(x, layer["weight"], (1, 1), "VALID", dimension_numbers=(order, "HWIO", order))
        + bias
    )


def pool(x: jax.Array, layout: str) -> jax.Array:
    """Maximum of 2 x 2."""
    window = (1, 2, 2, 1) if layout == "nhwc" else (1, 1, 2, 2)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")


def scores(parameters: dict[str, dict[str, jax.Array]], x: jax.Array, layout: str) -> jax.Array:
    """Images N x 28 x 28 x 1 (or N x 1 x 28 x 28) to scores N x 10."""
    for number in (1, 2):
        with jax.named_scope(f"conv{number}"):
            x = convolution(x, parameters[f"conv{number}"], layout)
        with jax.named_scope(f"pool{number}"):
            x = pool(x, layout)
        with jax.named_scope(f"tanh{number}"):
            x = jnp.tanh(x)
    x = x.reshape(x.shape[0], -1)
    with jax.named_scope("fc1"):
        x = jax.nn.relu(x @ parameters["fc1"]["weight"] + parameters["fc1"]["bias"])
    with jax.named_scope("fc2"):
        return x @ parameters["fc2"]["weight"] + parameters["fc2"]["bias"]


def arguments() -> argparse.Namespace:
    """The options that every training sample has; JAX takes its threads from the cores that the process may use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nhwc", help="order of the images' dimensions")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the mean time of every tenth."""
    args = arguments()
    if args.device:
        jax.config.update("jax_platforms", args.device)
    parameters = initial(jax.random.key(0))
    count = sum(leaf.size for leaf in jax.tree.leaves(parameters))
    assert count == PARAMETERS, count
    shape = (args.batch, 28, 28, 1) if args.layout == "nhwc" else (args.batch, 1, 28, 28)
    images = jax.random.normal(jax.random.key(1), shape)
    labels = jax.random.randint(jax.random.key(2), (args.batch,), 0, CLASSES)
    print(f"lenet: {count} parameters, batch {args.batch}, {jax.default_backend()}, {args.layout}")

    def loss_of(parameters: dict[str, dict[str, jax.Array]], x: jax.Array, y: jax.Array) -> jax.Array:
        found = scores(parameters, x, args.layout)
        with jax.named_scope("loss"):
            chosen = jnp.take_along_axis(jax.nn.log_softmax(found), y[:, None], axis=1)
            return -chosen.mean()

    @jax.jit
    def step(parameters: dict[str, dict[str, jax.Array]], x: jax.Array, y: jax.Array) -> tuple:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        with jax.named_scope("optimizer"):
            return jax.tree.map(lambda weight, gradient: weight - 0.01 * gradient, parameters, gradients), loss

    start = time.perf_counter()
    for number in range(1, args.steps + 1):
        parameters, loss = step(parameters, images, labels)
        if number % 10 == 0 or number == args.steps:
            loss = float(loss)  # JAX runs ahead: waiting for a number is waiting for the step.
            mean_ms = 1e3 * (time.perf_counter() - start) / number
            print(f"step {number}: loss {loss:.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
