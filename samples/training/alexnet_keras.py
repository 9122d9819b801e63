"""AlexNet training with Keras on random data: one tower, no groups, 62,378,344 parameters, conv1 to fc8.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
from training_keras import keras, options, train


def alexnet(layout: str) -> keras.Model:
    """Input 227 x 227 x 3. Local response normalisation is left out, as in the framework comparisons."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input(timing.shape_of(timing.MODELS["alexnet"], layout)),
            layers.Conv2D(96, 11, strides=4, activation="relu", name="conv1"),
            layers.MaxPooling2D(3, 2, name="pool1"),
            layers.Conv2D(256, 5, padding="same", activation="relu", name="conv2"),
            layers.MaxPooling2D(3, 2, name="pool2"),
            layers.Conv2D(384, 3, padding="same", activation="relu", name="conv3"),
            layers.Conv2D(384, 3, padding="same", activation="relu", name="conv4"),
            layers.Conv2D(256, 3, padding="same", activation="relu", name="conv5"),
            layers.MaxPooling2D(3, 2, name="pool5"),
            layers.Flatten(name="flatten"),
            layers.Dense(4096, activation="relu", name="fc6"),
            layers.Dropout(0.5, name="drop6"),
            layers.Dense(4096, activation="relu", name="fc7"),
            layers.Dropout(0.5, name="drop7"),
            layers.Dense(1000, name="fc8"),
        ],
        name="alexnet",
    )


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    arguments = options(__doc__, model).parse_args()
    train(lambda: alexnet(arguments.layout), model, arguments)
