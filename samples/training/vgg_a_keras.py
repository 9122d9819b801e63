"""VGG-A (Simonyan and Zisserman 2014, eleven layers) with Keras on random data: 132,863,336 parameters.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
from training_keras import keras, options, train

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Filters of each 3 x 3 convolution; a maximum of 2 x 2 after each stage."""


def vgg_a(model: timing.Model, layout: str) -> keras.Model:
    """Images of 224 x 224 to scores of a thousand classes."""
    layers = keras.layers
    made = [keras.Input(timing.shape_of(model, layout))]
    for stage, widths in enumerate(STAGES, start=1):
        for number, filters in enumerate(widths, start=1):
            made.append(layers.Conv2D(filters, 3, padding="same", activation="relu", name=f"conv{stage}_{number}"))
        made.append(layers.MaxPooling2D(2, name=f"pool{stage}"))
    made.append(layers.Flatten(name="flatten"))
    for number in (6, 7):
        made.append(layers.Dense(4096, activation="relu", name=f"fc{number}"))
        made.append(layers.Dropout(0.5, name=f"drop{number}"))
    return keras.Sequential([*made, layers.Dense(1000, name="fc8")], name="vgg_a")


if __name__ == "__main__":
    network = timing.MODELS["vgg_a"]
    arguments = options(__doc__, network).parse_args()
    train(lambda: vgg_a(network, arguments.layout), network, arguments)
