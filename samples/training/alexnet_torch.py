"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain PyTorch script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
import torch
from torch import nn
from training_torch import train


class AlexNet(nn.Module):
    """Input N x 3 x 227 x 227. Local response normalisation is left out, as in the framework comparisons."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4)
        self.relu1 = nn.ReLU(inplace=True)
        self.pool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.conv2 = nn.Conv2d(96, 256, kernel_size=5, padding=2)
        self.relu2 = nn.ReLU(inplace=True)
        self.pool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.conv3 = nn.Conv2d(256, 384, kernel_size=3, padding=1)
        self.relu3 = nn.ReLU(inplace=True)
        self.conv4 = nn.Conv2d(384, 384, kernel_size=3, padding=1)
        self.relu4 = nn.ReLU(inplace=True)
        self.conv5 = nn.Conv2d(384, 256, kernel_size=3, padding=1)
        self.relu5 = nn.ReLU(inplace=True)
        self.pool5 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.fc6 = nn.Linear(256 * 6 * 6, 4096)
        self.relu6 = nn.ReLU(inplace=True)
        self.drop6 = nn.Dropout()
        self.fc7 = nn.Linear(4096, 4096)
        self.relu7 = nn.ReLU(inplace=True)
        self.drop7 = nn.Dropout()
        self.fc8 = nn.Linear(4096, 1000)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images N x 3 x 227 x 227 to scores N x 1000."""
        x = self.pool1(self.relu1(self.conv1(images)))
        x = self.pool2(self.relu2(self.conv2(x)))
        x = self.relu3(self.conv3(x))
        x = self.relu4(self.conv4(x))
        x = self.pool5(self.relu5(self.conv5(x)))
        x = torch.flatten(x, 1)
        x = self.drop6(self.relu6(self.fc6(x)))
        x = self.drop7(self.relu7(self.fc7(x)))
        return self.fc8(x)


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    train(AlexNet, model, timing.options(__doc__, model).parse_args())
