"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain PyTorch script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn

PARAMETERS = 62_378_344
CLASSES = 1000


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
        self.fc8 = nn.Linear(4096, CLASSES)

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


def arguments() -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw", help="memory format of the tensors")
    parser.add_argument("--threads", type=int, help="CPU threads; default: PyTorch's own choice")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the time of each."""
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    memory_format = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    torch.manual_seed(0)

    model = AlexNet().to(device=device, memory_format=memory_format)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == PARAMETERS, count
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(args.batch, 3, 227, 227)
    labels = torch.randint(0, CLASSES, (args.batch,))
    print(f"alexnet: {count} parameters, batch {args.batch}, {device}, {args.layout}")

    for step in range(args.steps):
        start = time.perf_counter()
        x = images.to(device=device, memory_format=memory_format)
        y = labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 2 == 1 or step + 1 == args.steps:
            print(f"step {step + 1}: loss {loss.item():.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
