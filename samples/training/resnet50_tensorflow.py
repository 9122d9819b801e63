"""ResNet-50 (He et al. 2015), strides in the 3 x 3 convolutions, on random data: 25,557,032 parameters."""

from __future__ import annotations

import tensorflow as tf
import timing
from training_tensorflow import Layers, train

STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Width and number of blocks."""
EXPANSION = 4


def bottleneck(layers: Layers, x: tf.Tensor, name: str, width: int, stride: int) -> tf.Tensor:
    """1 x 1 down, 3 x 3, 1 x 1 up, and what goes past them."""
    outputs = EXPANSION * width
    past = x
    if x.shape[layers.channels] != outputs:
        past = layers.normalised(x, f"{name}/past", outputs, 1, stride, is_activated=False)
    y = layers.normalised(x, f"{name}/conv1", width, 1)
    y = layers.normalised(y, f"{name}/conv2", width, 3, stride)
    return tf.nn.relu(layers.normalised(y, f"{name}/conv3", outputs, 1, is_activated=False) + past)


def resnet50(layers: Layers, images: tf.Tensor) -> tf.Tensor:
    """Images of 224 x 224 to scores N x 1000."""
    x = layers.normalised(images, "conv1", 64, 7, 2)
    x = layers.maximum(x, "pool1", 3, 2)
    for stage, (width, blocks) in enumerate(STAGES, start=2):
        for block in range(1, blocks + 1):
            x = bottleneck(layers, x, f"conv{stage}_{block}", width, 2 if block == 1 and stage > 2 else 1)
    return layers.dense(layers.mean(x, "pool5"), "fc", 1000)


if __name__ == "__main__":
    model = timing.MODELS["resnet50"]
    train(resnet50, model, timing.options(__doc__, model, "nhwc").parse_args())
