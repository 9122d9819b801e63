"""A small convolutional network whose options bring one problem each, for `benchmarks/advice.py`; random data."""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 10
SIDE = 32


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Random images; each takes `wait_ms` to be had, as from slow storage."""

    def __init__(self, n: int, wait_ms: float) -> None:
        self.images = torch.randn(n, 3, SIDE, SIDE)
        self.wait_s = wait_ms / 1e3

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if self.wait_s:
            time.sleep(self.wait_s)
        return self.images[index], index % CLASSES


class Permuted(nn.Module):
    """Puts the channels last and back again, as between layers of two layouts."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        last = images.permute(0, 2, 3, 1).contiguous()
        return last.permute(0, 3, 1, 2).contiguous()


def network(args: argparse.Namespace) -> nn.Sequential:
    """Three convolutions and a fully connected layer."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 64)):
        layers.append(nn.Conv2d(inputs, outputs, 3, padding=1, bias=not args.norm or args.norm_bias))
        layers += [nn.BatchNorm2d(outputs)] if args.norm else []
        layers += [Permuted()] if args.permute else []
        layers.append(nn.ReLU())
    return nn.Sequential(*layers, nn.MaxPool2d(4), nn.Flatten(), nn.Linear(64 * (SIDE // 4) ** 2, CLASSES))


def arguments() -> argparse.Namespace:
    """One option per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw")
    parser.add_argument("--no-onednn", action="store_true", help="convolutions without oneDNN")
    parser.add_argument("--input-gradient", action="store_true", help="ask for the gradient of the images")
    parser.add_argument("--norm", action="store_true", help="a batch norm after each convolution")
    parser.add_argument("--norm-bias", action="store_true", help="a bias in the convolutions before it")
    parser.add_argument("--permute", action="store_true", help="change the layout and back after each convolution")
    parser.add_argument("--wait-ms", type=float, default=0, help="time to load an image")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--collect", action="store_true", help="a collection of garbage after each step")
    parser.add_argument("--log", action="store_true", help="write all parameters into a file after each step")
    parser.add_argument("--infer", choices=("eager", "fused"), help="no training: as it is, or fused by TorchScript")
    return parser.parse_args()


def infer(args: argparse.Namespace, model: nn.Module, images: torch.Tensor) -> None:
    """Forward passes only, each marked as a step: what TorchScript made calls no hooks of Python."""
    model.eval()
    if args.infer == "fused":
        traced = torch.jit.trace(model, images)  # type: ignore[no-untyped-call]
        model = torch.jit.optimize_for_inference(traced)
    with torch.no_grad():
        for _ in range(args.steps):
            model(images)
            sys.audit("traceview.step")


def main() -> None:
    """Train, or infer, for a few steps."""
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    if args.no_onednn:
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    layout = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    model = network(args).to(memory_format=layout)  # type: ignore[call-overload]
    if args.infer:
        infer(args, model, torch.randn(args.batch, 3, SIDE, SIDE).to(memory_format=layout))
        return
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = Images(args.batch * args.steps, args.wait_ms)
    for images, labels in DataLoader(data, batch_size=args.batch, num_workers=args.workers):
        batch = images.to(memory_format=layout).requires_grad_(args.input_gradient)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if args.collect:
            gc.collect()
        if args.log:
            with tempfile.TemporaryFile("w") as file:
                file.write(json.dumps([parameter.tolist() for parameter in model.parameters()]))
    print("done")


if __name__ == "__main__":
    main()
