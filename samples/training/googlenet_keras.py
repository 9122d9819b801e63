"""GoogLeNet (Szegedy et al. 2014) without its auxiliary classifiers, with Keras on random data: 6,998,552 parameters.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

from typing import Any

import timing
from training_keras import keras, options, train


def googlenet(model: timing.Model, layout: str) -> keras.Model:
    """Images of 224 x 224 to scores of a thousand classes, with dropout. Normalisation between channels is left out."""
    layers = keras.layers

    def convolution(x: Any, name: str, filters: int, size: int, stride: int = 1) -> Any:
        return layers.Conv2D(filters, size, stride, padding="same", activation="relu", name=name)(x)

    def maximum(x: Any, name: str, stride: int = 2) -> Any:
        return layers.MaxPooling2D(3, stride, padding="same", name=name)(x)

    images = keras.Input(timing.shape_of(model, layout))
    x = maximum(convolution(images, "conv1", 64, 7, 2), "pool1")
    x = convolution(convolution(x, "conv2_reduce", 64, 1), "conv2", 192, 3)
    x = maximum(x, "pool2")
    for name, one, to3, three, to5, five, pool in timing.INCEPTION:
        at = f"inception{name}"
        branches = [
            convolution(x, f"{at}_one", one, 1),
            convolution(convolution(x, f"{at}_three_reduce", to3, 1), f"{at}_three", three, 3),
            convolution(convolution(x, f"{at}_five_reduce", to5, 1), f"{at}_five", five, 5),
            convolution(maximum(x, f"{at}_maximum", 1), f"{at}_pool", pool, 1),
        ]
        x = layers.Concatenate(-1 if layout == "nhwc" else 1, name=f"{at}_join")(branches)
        if name in timing.POOLED_AFTER:
            x = maximum(x, f"pool{name}")
    x = layers.Dropout(0.4, name="drop5")(layers.GlobalAveragePooling2D(name="pool5")(x))
    return keras.Model(images, layers.Dense(1000, name="fc")(x), name="googlenet")


if __name__ == "__main__":
    network = timing.MODELS["googlenet"]
    arguments = options(__doc__, network).parse_args()
    train(lambda: googlenet(network, arguments.layout), network, arguments)
