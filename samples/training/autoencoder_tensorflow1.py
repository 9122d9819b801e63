"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning, as a graph: three encoders and ten classes.

A plain TensorFlow 1 script: it does not know traceview, so that what is measured around it is any script's case.
"""

import tensorflow as tf
import timing
from training_tensorflow1 import dense, train


def main():
    """Train it in one of its sizes."""
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    args = parser.parse_args()

    def encoders(x, is_training):
        for number, width in enumerate(timing.WIDTHS[args.size][1:], start=1):
            x = tf.nn.sigmoid(dense(x, width, f"encode{number}"), name=f"sigmoid{number}")
        return dense(x, 10, "classify")

    train(encoders, timing.AUTOENCODERS[args.size], args)


if __name__ == "__main__":
    main()
