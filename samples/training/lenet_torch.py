"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, fed by a DataLoader.

A plain PyTorch script: it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PARAMETERS = 431_080
CLASSES = 10


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
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(500, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images N x 1 x 28 x 28 to scores N x 10."""
        x = self.tanh1(self.pool1(self.conv1(images)))
        x = self.tanh2(self.pool2(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(self.relu(self.fc1(x)))


def arguments() -> argparse.Namespace:
    """The options that every training sample has, and the number of loader processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw", help="memory format of the tensors")
    parser.add_argument("--threads", type=int, help="CPU threads; default: PyTorch's own choice")
    parser.add_argument("--workers", type=int, default=0, help="DataLoader processes (default 0: none)")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the mean time of every tenth."""
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    memory_format = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    torch.manual_seed(0)

    model = LeNet().to(device=device, memory_format=memory_format)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == PARAMETERS, count
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(args.batch * args.steps, 1, 28, 28)
    labels = torch.randint(0, CLASSES, (args.batch * args.steps,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=args.batch, num_workers=args.workers)
    print(f"lenet: {count} parameters, batch {args.batch}, {device}, {args.layout}")

    start = time.perf_counter()
    for step, (x, y) in enumerate(loader):
        x = x.to(device=device, memory_format=memory_format)
        optimizer.zero_grad()
        loss = criterion(model(x), y.to(device))
        loss.backward()
        optimizer.step()
        if step % 10 == 9 or step + 1 == args.steps:
            mean_ms = 1e3 * (time.perf_counter() - start) / (step + 1)
            print(f"step {step + 1}: loss {loss.item():.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
