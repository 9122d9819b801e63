"""ResNet-50 (He et al. 2015), strides in the 3 x 3 convolutions, on random data: 25,557,032 parameters.

`--depth 18` is ResNet-18, of basic blocks: 11,689,512 parameters.
"""

from __future__ import annotations

from collections import OrderedDict

import timing
import torch
from torch import nn
from training_torch import train

PARAMETERS_18 = 11_689_512
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Width and number of blocks."""
EXPANSION = 4
BLOCKS_18 = 2


class Bottleneck(nn.Module):
    """1 x 1 down, 3 x 3, 1 x 1 up, and what goes past them."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.past = nn.Sequential()
        if inputs != outputs:
            self.past = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both ways."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + self.past(x))


class Basic(nn.Module):
    """Two 3 x 3 convolutions, and what goes past them."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.past = nn.Sequential()
        if inputs != width:
            self.past = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both ways."""
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.past(x))


def resnet50() -> nn.Sequential:
    """Images N x 3 x 224 x 224 to scores N x 1000."""
    return resnet(Bottleneck, EXPANSION, None)


def resnet18() -> nn.Sequential:
    """ResNet-18, of basic blocks."""
    return resnet(Basic, 1, BLOCKS_18)


def resnet(block_of: type[nn.Module], expansion: int, in_each: int | None) -> nn.Sequential:
    """All stages; of `in_each` blocks, or as many as ResNet-50 has."""
    layers: list[tuple[str, nn.Module]] = [
        ("conv1", nn.Conv2d(3, 64, 7, 2, 3, bias=False)),
        ("bn1", nn.BatchNorm2d(64)),
        ("relu1", nn.ReLU(inplace=True)),
        ("pool1", nn.MaxPool2d(3, 2, 1)),
    ]
    inputs = 64
    for stage, (width, blocks) in enumerate(STAGES, start=2):
        for block in range(1, (in_each or blocks) + 1):
            stride = 2 if block == 1 and stage > 2 else 1
            layers.append((f"conv{stage}_{block}", block_of(inputs, width, stride)))
            inputs = expansion * width
    layers += [("pool5", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("fc", nn.Linear(512 * expansion, 1000))]
    return nn.Sequential(OrderedDict(layers))


if __name__ == "__main__":
    model = timing.MODELS["resnet50"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--depth", type=int, choices=(18, 50), default=50)
    arguments = parser.parse_args()
    if arguments.depth == 18:
        model = model._replace(name="resnet18", parameters=PARAMETERS_18)
    train(resnet18 if arguments.depth == 18 else resnet50, model, arguments)
