"""GoogLeNet (Szegedy et al. 2014) without its auxiliary classifiers, on random data: 6,998,552 parameters."""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, train


def googlenet(layers: Layers, images: tf.Tensor) -> tf.Tensor:
    """Images of 224 x 224 to scores N x 1000, with dropout. Normalisation between channels is left out."""
    convolution = layers.convolution
    x = layers.maximum(convolution(images, "conv1", 64, 7, 2), "pool1", 3, 2)
    x = convolution(convolution(x, "conv2_reduce", 64, 1), "conv2", 192, 3)
    x = layers.maximum(x, "pool2", 3, 2)
    for name, one, to3, three, to5, five, pool in timing.INCEPTION:
        at = f"inception{name}"
        branches = [
            convolution(x, f"{at}/one", one, 1),
            convolution(convolution(x, f"{at}/three_reduce", to3, 1), f"{at}/three", three, 3),
            convolution(convolution(x, f"{at}/five_reduce", to5, 1), f"{at}/five", five, 5),
            convolution(layers.maximum(x, f"{at}/maximum", 3, 1), f"{at}/pool", pool, 1),
        ]
        x = layers.joined(branches, f"{at}/join")
        if name in timing.POOLED_AFTER:
            x = layers.maximum(x, f"pool{name}", 3, 2)
    return layers.dense(layers.dropped(layers.mean(x, "pool5"), "drop5", 0.4), "fc", 1000)


if __name__ == "__main__":
    model = timing.MODELS["googlenet"]
    train(googlenet, model, timing.options(__doc__, model, "nhwc").parse_args())
