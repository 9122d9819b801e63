"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling; `--workers` feeds it.

A plain PyTorch script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from training_torch import random_batch, train


class LeNet(nn.Module):
    """Input N x 1 x 28 x 28, two convolutions without padding, two fully connected layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, kernel_size=5)
        self.pool1 = nn.MaxPool2d(kernel_size=2)
        self.tanh1 = nn.Tanh()
        self.conv2 = nn.Conv2d(20, 50, kernel_size=5)
        self.pool2 = nn.MaxPool2d(kernel_size=2)
        self.tanh2 = nn.Tanh()
        self.fc1 = nn.Linear(50 * 4 * 4, 500)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(500, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images N x 1 x 28 x 28 to scores N x 10."""
        x = self.tanh1(self.pool1(self.conv1(images)))
        x = self.tanh2(self.pool2(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(self.relu1(self.fc1(x)))


def main() -> None:
    """Train on one batch, or on the batches of a loader."""
    model = timing.MODELS["lenet"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--workers", type=int, help="feed from a DataLoader with this many processes (0: none)")
    args = parser.parse_args()
    loader = None
    if args.workers is not None:
        data = TensorDataset(*random_batch(model, args.batch * args.steps))
        loader = DataLoader(data, batch_size=args.batch, num_workers=args.workers)
    train(LeNet, model, args, loader=loader)


if __name__ == "__main__":
    main()
