"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes.

A plain TensorFlow script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, train


def main() -> None:
    """Train it in one of its sizes."""
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    args = parser.parse_args()

    def encoders(layers: Layers, x: tf.Tensor) -> tf.Tensor:
        for number, width in enumerate(timing.WIDTHS[args.size][1:], start=1):
            x = layers.dense(x, f"encode{number}", width, tf.nn.sigmoid)
        return layers.dense(x, "classify", 10)

    train(encoders, timing.AUTOENCODERS[args.size], args)


if __name__ == "__main__":
    main()
