"""ResNet-50 (He et al. 2015), strides in the 3 x 3 convolutions, with Keras on random data: 25,557,032 parameters.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

from typing import Any

import timing
from training_keras import keras, options, train

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Width and number of blocks."""
EXPANSION = 4


def resnet50(model: timing.Model, layout: str) -> keras.Model:
    """Images of 224 x 224 to scores of a thousand classes."""
    layers, channels = keras.layers, -1 if layout == "nhwc" else 1

    def normalised(x: Any, name: str, filters: int, size: int, stride: int = 1) -> Any:
        x = layers.Conv2D(filters, size, stride, padding="same", use_bias=False, name=name)(x)
        return layers.BatchNormalization(channels, momentum=0.9, epsilon=1e-5, name=f"{name}_bn")(x)

    def bottleneck(x: Any, name: str, width: int, stride: int) -> Any:
        outputs = EXPANSION * width
        past = x if x.shape[channels] == outputs else normalised(x, f"{name}_past", outputs, 1, stride)
        y = layers.ReLU(name=f"{name}_relu1")(normalised(x, f"{name}_conv1", width, 1))
        y = layers.ReLU(name=f"{name}_relu2")(normalised(y, f"{name}_conv2", width, 3, stride))
        y = layers.Add(name=f"{name}_add")([normalised(y, f"{name}_conv3", outputs, 1), past])
        return layers.ReLU(name=f"{name}_relu3")(y)

    images = keras.Input(timing.shape_of(model, layout))
    x = layers.ReLU(name="relu1")(normalised(images, "conv1", 64, 7, 2))
    x = layers.MaxPooling2D(3, 2, padding="same", name="pool1")(x)
    for stage, (width, blocks) in enumerate(STAGES, start=2):
        for block in range(1, blocks + 1):
            x = bottleneck(x, f"conv{stage}_{block}", width, 2 if block == 1 and stage > 2 else 1)
    return keras.Model(images, layers.Dense(1000, name="fc")(layers.GlobalAveragePooling2D(name="pool5")(x)))


if __name__ == "__main__":
    network = timing.MODELS["resnet50"]
    arguments = options(__doc__, network).parse_args()
    train(lambda: resnet50(network, arguments.layout), network, arguments)
