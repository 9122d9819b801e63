"""VGG-A (Simonyan and Zisserman 2014, eleven layers) on random data: 132,863,336 parameters."""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, flat, train

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Filters of each 3 x 3 convolution; a maximum of 2 x 2 after each stage."""


def vgg_a(layers: Layers, images: tf.Tensor) -> tf.Tensor:
    """Images of 224 x 224 to scores N x 1000, with dropout."""
    x = images
    for stage, widths in enumerate(STAGES, start=1):
        for number, filters in enumerate(widths, start=1):
            x = layers.convolution(x, f"conv{stage}_{number}", filters, 3)
        x = layers.maximum(x, f"pool{stage}", 2, 2)
    x = flat(x)
    for number in (6, 7):
        x = layers.dropped(layers.dense(x, f"fc{number}", 4096, tf.nn.relu), f"drop{number}")
    return layers.dense(x, "fc8", 1000)


if __name__ == "__main__":
    model = timing.MODELS["vgg_a"]
    train(vgg_a, model, timing.options(__doc__, model, "nhwc").parse_args())
