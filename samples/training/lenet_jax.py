"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, one compiled function per step.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import timing
from training_jax import Parameters, convolution, dense, initial, maximum, train

SHAPES = {"conv1": (5, 5, 1, 20), "conv2": (5, 5, 20, 50), "fc1": (800, 500), "fc2": (500, 10)}


def main() -> None:
    """Train it."""
    model = timing.MODELS["lenet"]
    args = timing.options(__doc__, model, "nhwc").parse_args()

    def lenet(parameters: Parameters, x: jax.Array, key: jax.Array | None) -> jax.Array:
        for number in (1, 2):
            x = convolution(parameters, f"conv{number}", x, args.layout)
            x = maximum(f"pool{number}", x, args.layout, 2)
            with jax.named_scope(f"tanh{number}"):
                x = jnp.tanh(x)
        x = dense(parameters, "fc1", x.reshape(x.shape[0], -1))
        with jax.named_scope("relu1"):
            x = jax.nn.relu(x)
        return dense(parameters, "fc2", x)

    train(lenet, lambda: initial(SHAPES), model, args)


if __name__ == "__main__":
    main()
