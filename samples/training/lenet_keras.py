"""LeNet training with Keras on random data: 431,080 parameters, batch 64, tanh after pooling.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
from training_keras import keras, options, train


def lenet(layout: str) -> keras.Model:
    """Input 28 x 28 x 1, two convolutions without padding, two fully connected layers."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input(timing.shape_of(timing.MODELS["lenet"], layout)),
            layers.Conv2D(20, 5, name="conv1"),
            layers.MaxPooling2D(2, 2, name="pool1"),
            layers.Activation("tanh", name="tanh1"),
            layers.Conv2D(50, 5, name="conv2"),
            layers.MaxPooling2D(2, 2, name="pool2"),
            layers.Activation("tanh", name="tanh2"),
            layers.Flatten(name="flatten"),
            layers.Dense(500, activation="relu", name="fc1"),
            layers.Dense(10, name="fc2"),
        ],
        name="lenet",
    )


if __name__ == "__main__":
    model = timing.MODELS["lenet"]
    arguments = options(__doc__, model).parse_args()
    train(lambda: lenet(arguments.layout), model, arguments)
