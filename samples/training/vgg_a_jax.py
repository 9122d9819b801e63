"""VGG-A (Simonyan and Zisserman 2014, eleven layers) with JAX on random data: 132,863,336 parameters.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import jax
import timing
from training_jax import Parameters, convolution, dense, dropped, initial, maximum, train

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Filters of each 3 x 3 convolution; a maximum of 2 x 2 after each stage."""
DENSE = {"fc6": (25088, 4096), "fc7": (4096, 4096), "fc8": (4096, 1000)}


def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight, the last dimension of which is that of what comes out."""
    found: dict[str, tuple[int, ...]] = {}
    inputs = 3
    for stage, widths in enumerate(STAGES, start=1):
        for number, filters in enumerate(widths, start=1):
            found[f"conv{stage}_{number}"] = (3, 3, inputs, filters)
            inputs = filters
    return found | DENSE


def main() -> None:
    """Train it."""
    model = timing.MODELS["vgg_a"]
    args = timing.options(__doc__, model, "nhwc").parse_args()

    def vgg_a(parameters: Parameters, x: jax.Array, key: jax.Array | None) -> jax.Array:
        for stage, widths in enumerate(STAGES, start=1):
            for number in range(1, len(widths) + 1):
                x = convolution(parameters, f"conv{stage}_{number}", x, args.layout, padding=1)
                with jax.named_scope(f"relu{stage}_{number}"):
                    x = jax.nn.relu(x)
            x = maximum(f"pool{stage}", x, args.layout, 2)
        x = x.reshape(x.shape[0], -1)
        keys = (None, None) if key is None else jax.random.split(key)
        for number, own in zip((6, 7), keys, strict=True):
            x = dense(parameters, f"fc{number}", x)
            with jax.named_scope(f"relu{number}"):
                x = jax.nn.relu(x)
            x = dropped(f"drop{number}", x, own)
        return dense(parameters, "fc8", x)

    train(vgg_a, lambda: initial(shapes()), model, args)


if __name__ == "__main__":
    main()
