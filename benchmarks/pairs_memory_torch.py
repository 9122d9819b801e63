"""A network of tanh layers whose options keep memory for nothing, for the rules of docs/advice.md that name memory.

    traceview collect --allocations -o kept -- python benchmarks/pairs_memory_torch.py --gradients kept
    traceview collect --allocations -o released -- python benchmarks/pairs_memory_torch.py

Sizes are known: a layer has 512 x 512 + 512 parameters in float32, and its result 256 x 512.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

WIDTH, BATCH, LAYERS, CLASSES = 512, 256, 4, 10


class Net(nn.Module):
    """Layers that may be left untrained, and a last one that is trained."""

    def __init__(self, backbone: str) -> None:
        super().__init__()
        layers = [part for _ in range(LAYERS) for part in (nn.Linear(WIDTH, WIDTH), nn.Tanh())]
        self.body, self.head, self.how = nn.Sequential(*layers), nn.Linear(WIDTH, CLASSES), backbone

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layers, those of the body without gradients where it is asked for."""
        with torch.set_grad_enabled(self.how != "no_grad" and torch.is_grad_enabled()):
            x = self.body(x)
        result: torch.Tensor = self.head(x.detach() if self.how == "detached" else x)
        return result


def main() -> None:
    """Train for a few steps, or infer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--gradients", choices=("kept", "released", "added"), default="released")
    parser.add_argument("--backbone", choices=("trained", "left_out", "detached", "no_grad"), default="trained")
    parser.add_argument("--infer", choices=("with_gradients", "without"), help="no training")
    parser.add_argument("--validate", choices=("with_gradients", "without"), help="after each second step")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, x = Net(args.backbone), torch.randn(BATCH, WIDTH)
    if args.infer:
        net.eval()
        with torch.set_grad_enabled(args.infer == "with_gradients"):
            for _ in range(args.steps):
                net(x)
        return
    trained = net if args.backbone == "trained" else net.head
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.01)
    for step in range(args.steps):
        net.train()
        if args.gradients != "added":
            optimizer.zero_grad(set_to_none=args.gradients == "released")
        net(x).square().mean().backward()
        optimizer.step()
        if args.validate and step % 2:
            net.eval()
            with torch.set_grad_enabled(args.validate == "with_gradients"):
                net(x).mean().item()


if __name__ == "__main__":
    main()
