"""A small network under torch.compile whose options bring one problem each, for `benchmarks/advice.py`; random data."""

from __future__ import annotations

import argparse

import torch
from torch import nn


class Layers(nn.Module):
    """Scales and bends its input again and again; `--breaks` has Python look at it after each layer but the last."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.rand(args.width)) for _ in range(4)])
        self.breaks = args.breaks
        self.seen: list[str] = []
        self.finds = args.largest
        self.count = 0

    def bend(self, hidden: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """One layer."""
        return torch.relu(hidden * scale) + hidden

    def look(self, hidden: torch.Tensor) -> float:
        """A number of the host's."""
        return hidden[0, 0].item() if self.breaks else 1.0

    def largest(self, hidden: torch.Tensor) -> torch.Tensor:
        """Largest value of each row."""
        if self.finds == "sort":
            return hidden.sort(dim=1).values[:, -1:]
        return hidden.amax(dim=1, keepdim=True)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        first, second, third, last = self.scales
        hidden = self.bend(hidden, first)
        hidden = self.bend(hidden, second) * self.look(hidden)
        hidden = self.bend(hidden, third) * self.look(hidden)
        if self.finds:
            hidden = hidden / (1 + self.largest(hidden))
        return self.bend(hidden, last) + self.count


def main() -> None:
    """Train for a few steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--breaks", action="store_true", help="read a value of a tensor between the layers")
    parser.add_argument("--counts", action="store_true", help="count steps in a number that the forward pass reads")
    parser.add_argument("--largest", choices=("sort", "amax"), help="scale by the largest value, found like this")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch._dynamo.config.recompile_limit = args.steps + 1
    model = Layers(args)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(args.steps):
        loss = compiled(torch.randn(args.rows, args.width)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        model.count += args.counts
    print("done")


if __name__ == "__main__":
    main()
