"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in a tf.function of its own.

A plain TensorFlow script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, flat, train


def lenet(layers: Layers, images: tf.Tensor) -> tf.Tensor:
    """Images N x 28 x 28 x 1 (or N x 1 x 28 x 28) to scores N x 10."""
    x = images
    for number, filters in ((1, 20), (2, 50)):
        x = layers.convolution(x, f"conv{number}", filters, 5, padding="VALID", activation=None)
        x = layers.maximum(x, f"pool{number}", 2, 2, "VALID")
        x = tf.nn.tanh(x, name=f"tanh{number}")
    return layers.dense(layers.dense(flat(x), "fc1", 500, tf.nn.relu), "fc2", 10)


if __name__ == "__main__":
    model = timing.MODELS["lenet"]
    train(lenet, model, timing.options(__doc__, model, "nhwc").parse_args())
