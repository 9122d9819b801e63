"""The AlexNet of "One weird trick" (Krizhevsky 2014), as convnet-benchmarks times it: 61,100,840 parameters.

64 instead of 96 first filters, no groups, no normalisation, no dropout.
"""

from __future__ import annotations

from collections import OrderedDict

import timing
from torch import nn
from training_torch import train

PARAMETERS = 61_100_840
CONVOLUTIONS = (
    # inputs, filters, size, stride, padding, maximum of 3 x 3 after it
    (3, 64, 11, 4, 2, True),
    (64, 192, 5, 1, 2, True),
    (192, 384, 3, 1, 1, False),
    (384, 256, 3, 1, 1, False),
    (256, 256, 3, 1, 1, True),
)


def alexnet_owt() -> nn.Sequential:
    """Images N x 3 x 224 x 224 to scores N x 1000."""
    layers: list[tuple[str, nn.Module]] = []
    for number, (inputs, filters, size, stride, padding, is_pooled) in enumerate(CONVOLUTIONS, start=1):
        layers.append((f"conv{number}", nn.Conv2d(inputs, filters, size, stride, padding)))
        layers.append((f"relu{number}", nn.ReLU(inplace=True)))
        if is_pooled:
            layers.append((f"pool{number}", nn.MaxPool2d(3, 2)))
    layers.append(("flatten", nn.Flatten()))
    for number, (inputs, outputs) in enumerate(((9216, 4096), (4096, 4096)), start=6):
        layers += [(f"fc{number}", nn.Linear(inputs, outputs)), (f"relu{number}", nn.ReLU(inplace=True))]
    layers.append(("fc8", nn.Linear(4096, 1000)))
    return nn.Sequential(OrderedDict(layers))


if __name__ == "__main__":
    model = timing.imagenet("alexnet_owt", PARAMETERS, batch=16)
    train(alexnet_owt, model, timing.options(__doc__, model).parse_args())
