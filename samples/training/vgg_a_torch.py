"""VGG-A (Simonyan and Zisserman 2014, eleven layers) on random data: 132,863,336 parameters."""

from __future__ import annotations

from collections import OrderedDict

import timing
from torch import nn
from training_torch import train

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Filters of each 3 x 3 convolution; a maximum of 2 x 2 after each stage."""


def vgg_a() -> nn.Sequential:
    """Images N x 3 x 224 x 224 to scores N x 1000."""
    layers: list[tuple[str, nn.Module]] = []
    inputs = 3
    for stage, widths in enumerate(STAGES, start=1):
        for number, filters in enumerate(widths, start=1):
            layers.append((f"conv{stage}_{number}", nn.Conv2d(inputs, filters, 3, padding=1)))
            layers.append((f"relu{stage}_{number}", nn.ReLU(inplace=True)))
            inputs = filters
        layers.append((f"pool{stage}", nn.MaxPool2d(2)))
    layers.append(("flatten", nn.Flatten()))
    for number, width in enumerate((512 * 7 * 7, 4096), start=6):
        layers += [(f"fc{number}", nn.Linear(width, 4096)), (f"relu{number}", nn.ReLU(inplace=True))]
        layers.append((f"drop{number}", nn.Dropout()))
    layers.append(("fc8", nn.Linear(4096, 1000)))
    return nn.Sequential(OrderedDict(layers))


if __name__ == "__main__":
    model = timing.MODELS["vgg_a"]
    train(vgg_a, model, timing.options(__doc__, model).parse_args())
