"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import jax
import timing
from training_jax import Parameters, convolution, dense, dropped, initial, maximum, train

CONVOLUTIONS = (
    # name, filter (height, width, inputs, outputs), stride, padding, maximum of 3 x 3 after it
    ("conv1", (11, 11, 3, 96), 4, 0, True),
    ("conv2", (5, 5, 96, 256), 1, 2, True),
    ("conv3", (3, 3, 256, 384), 1, 1, False),
    ("conv4", (3, 3, 384, 384), 1, 1, False),
    ("conv5", (3, 3, 384, 256), 1, 1, True),
)
DENSE = {"fc6": (9216, 4096), "fc7": (4096, 4096), "fc8": (4096, 1000)}
SHAPES = {name: shape for name, shape, *_ in CONVOLUTIONS} | DENSE


def main() -> None:
    """Train it."""
    model = timing.MODELS["alexnet"]
    args = timing.options(__doc__, model, "nhwc").parse_args()

    def alexnet(parameters: Parameters, x: jax.Array, key: jax.Array | None) -> jax.Array:
        for name, _, stride, padding, is_pooled in CONVOLUTIONS:
            x = convolution(parameters, name, x, args.layout, stride, padding)
            with jax.named_scope(f"relu{name[-1]}"):
                x = jax.nn.relu(x)
            if is_pooled:
                x = maximum(f"pool{name[-1]}", x, args.layout, 3)
        x = x.reshape(x.shape[0], -1)
        keys = (None, None) if key is None else jax.random.split(key)
        for number, own in zip((6, 7), keys, strict=True):
            x = dense(parameters, f"fc{number}", x)
            with jax.named_scope(f"relu{number}"):
                x = jax.nn.relu(x)
            x = dropped(f"drop{number}", x, own)
        return dense(parameters, "fc8", x)

    train(alexnet, lambda: initial(SHAPES), model, args)


if __name__ == "__main__":
    main()
