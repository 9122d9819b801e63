"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain TensorFlow script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, flat, train

CONVOLUTIONS = (
    # filters, size, stride, padding, maximum of 3 x 3 after it
    (96, 11, 4, "VALID", True),
    (256, 5, 1, "SAME", True),
    (384, 3, 1, "SAME", False),
    (384, 3, 1, "SAME", False),
    (256, 3, 1, "SAME", True),
)


def alexnet(layers: Layers, images: tf.Tensor) -> tf.Tensor:
    """Images of 227 x 227 to scores N x 1000. Local response normalisation is left out, as in the comparisons."""
    x = images
    for number, (filters, size, stride, padding, is_pooled) in enumerate(CONVOLUTIONS, start=1):
        x = layers.convolution(x, f"conv{number}", filters, size, stride, padding=padding)
        if is_pooled:
            x = layers.maximum(x, f"pool{number}", 3, 2, "VALID")
    x = flat(x)
    for number in (6, 7):
        x = layers.dropped(layers.dense(x, f"fc{number}", 4096, tf.nn.relu), f"drop{number}")
    return layers.dense(x, "fc8", 1000)


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    train(alexnet, model, timing.options(__doc__, model, "nhwc").parse_args())
