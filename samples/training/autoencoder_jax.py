"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes.

A plain JAX script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import itertools

import jax
import timing
from training_jax import Parameters, dense, initial, train


def main() -> None:
    """Train it in one of its sizes."""
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    args = parser.parse_args()
    widths = timing.WIDTHS[args.size]
    shapes = {f"encode{number}": pair for number, pair in enumerate(itertools.pairwise(widths), start=1)}

    def encoders(parameters: Parameters, x: jax.Array, key: jax.Array | None) -> jax.Array:
        for name in shapes:
            x = dense(parameters, name, x)
            with jax.named_scope(f"sigmoid{name[-1]}"):
                x = jax.nn.sigmoid(x)
        return dense(parameters, "classify", x)

    train(encoders, lambda: initial({**shapes, "classify": (widths[-1], 10)}), timing.AUTOENCODERS[args.size], args)


if __name__ == "__main__":
    main()
