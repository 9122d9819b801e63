"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, as a graph.

A plain TensorFlow 1 script: it does not know traceview, so that what is measured around it is any script's case.
"""

import tensorflow as tf
import timing
from training_tensorflow1 import convolution, dense, maximum, train

# Number, channels out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    (1, 96, 11, 4, "VALID", True),
    (2, 256, 5, 1, "SAME", True),
    (3, 384, 3, 1, "SAME", False),
    (4, 384, 3, 1, "SAME", False),
    (5, 256, 3, 1, "SAME", True),
)


def main():
    """Train it. Local response normalisation is left out, as in the framework comparisons."""
    model = timing.MODELS["alexnet"]
    args = timing.options(__doc__, model, "nhwc").parse_args()
    layout = args.layout.upper()

    def alexnet(images, is_training):
        x = images
        for number, filters, size, stride, padding, is_pooled in CONVOLUTIONS:
            x = convolution(x, filters, size, f"conv{number}", layout, stride, padding)
            x = tf.nn.relu(x, name=f"relu{number}")
            if is_pooled:
                x = maximum(x, 3, f"pool{number}", layout)
        x = tf.reshape(x, (-1, 256 * 6 * 6))
        for number in (6, 7):
            x = tf.nn.relu(dense(x, 4096, f"fc{number}"), name=f"relu{number}")
            if is_training:
                x = tf.nn.dropout(x, rate=0.5, name=f"drop{number}")
        return dense(x, 1000, "fc8")

    train(alexnet, model, args)


if __name__ == "__main__":
    main()
