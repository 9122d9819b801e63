"""Models of a review of deep-learning frameworks (NVIDIA's lecture deck), each as small as its slides: `--model`.

`ann`: 20-64-64-10, 6,154 parameters. `cnn`: two pairs of 3 x 3 convolutions on 100 x 100 images, 7,998,250.
`inception`: Inception with batch normalisation up to its module 4(d), where the deck ends, and a classifier.
The deck's AlexNet is `alexnet_torch.py`, its LeNet has the shapes of `lenet_torch.py`.
"""

from __future__ import annotations

from collections import OrderedDict

import timing
import torch
from torch import nn
from training_torch import train

PARAMETERS = {"ann": 6_154, "cnn": 7_998_250, "inception": 4_851_048}
MODULES = (
    # name, inputs, 1x1, 3x3 reduce, 3x3, double 3x3 reduce, double 3x3, pool projection (0: the pool itself, stride 2)
    ("3a", 192, 64, 64, 64, 64, 96, 32),
    ("3b", 256, 64, 64, 96, 64, 96, 64),
    ("3c", 320, 0, 128, 160, 64, 96, 0),
    ("4a", 576, 224, 64, 96, 96, 128, 128),
    ("4b", 576, 192, 96, 128, 96, 128, 128),
    ("4c", 576, 160, 128, 160, 128, 160, 96),
    ("4d", 576, 96, 128, 192, 160, 192, 96),
)


def ann() -> nn.Sequential:
    """Twenty numbers to ten scores."""
    return nn.Sequential(
        OrderedDict(
            fc1=nn.Linear(20, 64), relu1=nn.ReLU(), drop1=nn.Dropout(),
            fc2=nn.Linear(64, 64), relu2=nn.ReLU(), drop2=nn.Dropout(),
            fc3=nn.Linear(64, 10),
        )
    )  # fmt: skip


def cnn() -> nn.Sequential:
    """Images N x 3 x 100 x 100 to ten scores, all convolutions without padding."""
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(3, 32, 3), relu1=nn.ReLU(), conv2=nn.Conv2d(32, 32, 3), relu2=nn.ReLU(),
            pool1=nn.MaxPool2d(2), drop1=nn.Dropout(0.25),
            conv3=nn.Conv2d(32, 64, 3), relu3=nn.ReLU(), conv4=nn.Conv2d(64, 64, 3), relu4=nn.ReLU(),
            pool2=nn.MaxPool2d(2), drop2=nn.Dropout(0.25),
            flatten=nn.Flatten(), fc1=nn.Linear(64 * 22 * 22, 256), relu5=nn.ReLU(), drop3=nn.Dropout(),
            fc2=nn.Linear(256, 10),
        )
    )  # fmt: skip


def convolution(inputs: int, filters: int, size: int, stride: int = 1) -> list[nn.Module]:
    """A convolution with its bias, batch normalisation and ReLU."""
    normalised = [nn.BatchNorm2d(filters), nn.ReLU(inplace=True)]
    return [nn.Conv2d(inputs, filters, size, stride, size // 2), *normalised]


class Inception(nn.Module):
    """Up to four branches side by side; without a projection the module halves the image."""

    def __init__(self, inputs: int, one: int, reduce3: int, three: int, reduce33: int, twice: int, pool: int) -> None:
        super().__init__()
        stride = 1 if pool else 2
        last = convolution(twice, twice, 3, stride)
        branches: list[list[nn.Module]] = [
            convolution(inputs, one, 1) if one else [],
            [*convolution(inputs, reduce3, 1), *convolution(reduce3, three, 3, stride)],
            [*convolution(inputs, reduce33, 1), *convolution(reduce33, twice, 3), *last],
            [nn.AvgPool2d(3, 1, 1), *convolution(inputs, pool, 1)] if pool else [nn.MaxPool2d(3, 2, 1)],
        ]
        self.branches = nn.ModuleList(nn.Sequential(*branch) for branch in branches if branch)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Channels of all branches, one behind the other."""
        return torch.cat([branch(x) for branch in self.branches], 1)


def inception() -> nn.Sequential:
    """Images N x 3 x 224 x 224 to scores N x 1000."""
    layers: list[tuple[str, nn.Module]] = [
        ("conv1", nn.Sequential(*convolution(3, 64, 7, 2))),
        ("pool1", nn.MaxPool2d(3, 2, ceil_mode=True)),
        ("conv2", nn.Sequential(*convolution(64, 64, 1), *convolution(64, 192, 3))),
        ("pool2", nn.MaxPool2d(3, 2, ceil_mode=True)),
    ]
    layers += [(f"inception{name}", Inception(*widths)) for name, *widths in MODULES]
    layers += [("pool4", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("fc", nn.Linear(576, 1000))]
    return nn.Sequential(OrderedDict(layers))


MODELS = {
    "ann": (ann, (20,), 10),
    "cnn": (cnn, (3, 100, 100), 10),
    "inception": (inception, (3, 224, 224), 1000),
}
"""With the shape of one input, and classes."""


def main() -> None:
    """Train one of them."""
    parser = timing.options(__doc__, timing.imagenet("cnn", 0, batch=16))
    parser.add_argument("--model", choices=tuple(MODELS), default="cnn")
    args = parser.parse_args()
    make, shape, classes = MODELS[args.model]
    train(make, timing.Model(args.model, PARAMETERS[args.model], 16, 8, 0.9, shape, classes), args)


if __name__ == "__main__":
    main()
