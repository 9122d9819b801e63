"""A small transformer whose options bring one problem each, for `benchmarks/advice.py`; random data."""

from __future__ import annotations

import argparse
import math
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

WORDS = 512


class Norm(nn.Module):
    """RMSNorm, operator by operator or as one."""

    def __init__(self, width: int, is_fused: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.is_fused = is_fused

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.is_fused:
            return functional.layer_norm(x, x.shape[-1:], self.weight)
        centred = x - x.mean(-1, keepdim=True)
        return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Attention(nn.Module):
    """Causal attention by its formula, or as one operator."""

    def __init__(self, width: int, heads: int, kind: str) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.kind = heads, kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.kind == "sdpa":
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mask = torch.full((length, length), -math.inf).triu(1)
            scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5 + mask
            y = scores.softmax(-1) @ v
        result: torch.Tensor = self.out(y.transpose(1, 2).reshape(batch, length, width))
        return result


class Experts(nn.Module):
    """Feed-forward networks side by side, each for its part of the words: one after the other, or as batches."""

    def __init__(self, width: int, n: int, is_batched: bool) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.randn(n, width, width) / width**0.5)
        self.second = nn.Parameter(torch.randn(n, width, width) / width**0.5)
        self.is_batched = is_batched

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = x.reshape(len(self.first), -1, x.shape[-1])
        if self.is_batched:
            y = functional.relu(parts @ self.first) @ self.second
        else:
            each = zip(parts, self.first, self.second, strict=True)
            y = torch.stack([functional.relu(part @ first) @ second for part, first, second in each])
        return y.view(x.shape)


class Block(nn.Module):
    """Attention and feed-forward network, each with its norm and residual."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.first, self.second = (Norm(args.width, args.norm == "fused") for _ in range(2))
        self.attention = Attention(args.width, args.heads, args.attention)
        self.network: nn.Module
        if args.experts:
            self.network = Experts(args.width, args.experts, args.batched)
        else:
            layers = nn.Linear(args.width, 4 * args.width), nn.GELU(), nn.Linear(4 * args.width, args.width)
            self.network = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        result: torch.Tensor = x + self.network(self.second(x))
        return result


class Transformer(nn.Module):
    """Embedding, blocks, and a prediction of each word."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(WORDS, args.width), nn.Linear(args.width, WORDS)
        self.blocks = nn.ModuleList(Block(args) for _ in range(args.blocks))
        self.is_checkpointed = args.checkpoint

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.embedding(words)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.is_checkpointed else block(x)
        result: torch.Tensor = self.head(x)
        return result


def arguments() -> argparse.Namespace:
    """One option per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--attention", choices=("formula", "sdpa"), default="sdpa")
    parser.add_argument("--norm", choices=("formula", "fused"), default="fused")
    parser.add_argument("--experts", type=int, default=0, help="this many small networks in place of the large one")
    parser.add_argument("--batched", action="store_true", help="the experts' products as batches")
    parser.add_argument("--checkpoint", action="store_true", help="compute each block again for its gradient")
    parser.add_argument("--double", action="store_true", help="in double precision")
    return parser.parse_args()


def main() -> int:
    """Train on random words."""
    args = arguments()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    model = Transformer(args).to(torch.float64 if args.double else torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(args.steps):
        words = torch.randint(WORDS, (args.batch, args.length))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(words).flatten(0, 1), words.flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    print(float(loss.detach()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
