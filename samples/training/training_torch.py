"""What the larger PyTorch samples share: their options, and a loop that trains a model on one random batch.

It does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import nn

Batch = tuple[torch.Tensor, ...]
"""The model's inputs, and last the target of the loss."""


def options(doc: str | None, batch: int, steps: int = 8) -> argparse.ArgumentParser:
    """The options that every training sample has; a sample may add its own."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--batch", type=int, default=batch, help=f"samples per step (default {batch})")
    parser.add_argument("--steps", type=int, default=steps, help=f"training steps (default {steps})")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw", help="memory format of images")
    parser.add_argument("--threads", type=int, help="CPU threads; default: PyTorch's own choice")
    return parser


def count(model: nn.Module) -> int:
    """Parameters, shared ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def images(size: int, classes: int) -> Callable[[int], Batch]:
    """Makes batches of random images and labels."""
    return lambda batch: (torch.randn(batch, 3, size, size), torch.randint(0, classes, (batch,)))


def train(
    name: str,
    make: Callable[[], nn.Module],
    parameters: int,
    make_batch: Callable[[int], Batch],
    args: argparse.Namespace,
    criterion: nn.Module | None = None,
) -> None:
    """Train for a few steps; print the loss and the time of each second one."""
    if args.threads:
        torch.set_num_threads(args.threads)
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    memory_format = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    torch.manual_seed(0)
    model = make().to(device=device, memory_format=memory_format)
    assert count(model) == parameters, count(model)
    criterion = criterion or nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD([it for it in model.parameters() if it.requires_grad], lr=0.01, momentum=0.9)
    batch = make_batch(args.batch)
    print(f"{name}: {parameters} parameters, batch {args.batch}, {device}, {args.layout}")

    for step in range(1, args.steps + 1):
        start = time.perf_counter()
        *inputs, target = (
            value.to(device, memory_format=memory_format) if value.dim() == 4 else value.to(device) for value in batch
        )
        optimizer.zero_grad()
        loss = criterion(model(*inputs), target)
        loss.backward()
        optimizer.step()
        if step % 2 == 0 or step == args.steps:
            print(f"step {step}: loss {loss.item():.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)
