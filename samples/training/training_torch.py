"""Code that the PyTorch samples share: a loop that trains a model on one random batch, or computes a part of that."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable

import timing
import torch
from torch import nn

Batch = tuple[torch.Tensor, ...]
"""The model's inputs, and last the target of the loss."""


def random_batch(model: timing.Model, batch: int, longest: int | None = None) -> Batch:
    """Random inputs and labels."""
    *inputs, labels = map(torch.from_numpy, timing.batch_of(model, batch, longest=longest))
    return *inputs, labels.long()


def train(
    make: Callable[[], nn.Module],
    model: timing.Model,
    args: argparse.Namespace,
    batch: Batch | None = None,
    criterion: nn.Module | None = None,
    loader: Iterable[Batch] | None = None,
) -> None:
    """Train, or do what `--mode` says: with one batch that lies on the device, or with those of a loader."""
    if args.threads:
        torch.set_num_threads(args.threads)
    if args.device == "cuda" and not torch.cuda.is_available():
        timing.refuse("this PyTorch has no CUDA device")
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    order = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    torch.manual_seed(0)
    network = make().to(device=device, memory_format=order)
    criterion = criterion or nn.CrossEntropyLoss()
    parameters = [each for each in network.parameters() if each.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=timing.RATE, momentum=model.momentum)

    def resident(batch: Batch) -> list[torch.Tensor]:
        return [each.to(device, memory_format=order) if each.dim() == 4 else each.to(device) for each in batch]

    batches = itertools.repeat(resident(batch or random_batch(model, args.batch)))
    if loader is not None:
        batches = map(resident, loader)

    @torch.inference_mode()
    def forward() -> torch.Tensor:
        *inputs, _ = next(batches)
        return network(*inputs).flatten()[0]

    def backward() -> torch.Tensor:
        *inputs, target = next(batches)
        optimizer.zero_grad()
        loss = criterion(network(*inputs), target)
        loss.backward()
        if args.mode == "train":
            optimizer.step()
        return loss.detach()

    network.train(args.mode != "forward")
    timing.measure(
        model, args, forward if args.mode == "forward" else backward, lambda: parameters[-1].flatten()[0].item(),
        framework="torch", version=torch.__version__, device=device, threads=torch.get_num_threads(),
        parameters=sum(each.numel() for each in network.parameters()),
    )  # fmt: skip
