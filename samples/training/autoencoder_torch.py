"""The stacked autoencoder of Bahrampour et al. (2015): 784 inputs, three encoders with tied weights, ten classes.

Parts as that study times them: `ae1`, `ae2`, `ae3` train one encoder and its decoder on what the (frozen) encoders
before it make of the input; `finetune` trains all encoders and a classifier: 415,310 parameters, or 3,451,010.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict

import timing
import torch
from torch import nn
from training_torch import train


class Encoder(nn.Module):
    """One hidden layer; its decoder is the transposed weight with a bias of its own."""

    def __init__(self, inputs: int, outputs: int, is_decoded: bool) -> None:
        super().__init__()
        self.encode = nn.Linear(inputs, outputs)
        self.sigmoid = nn.Sigmoid()
        self.decoder_bias = nn.Parameter(torch.zeros(inputs)) if is_decoded else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the hidden values, or the reconstructed input where there is a decoder."""
        hidden = self.sigmoid(self.encode(x))
        if self.decoder_bias is None:
            return hidden
        return torch.sigmoid(nn.functional.linear(hidden, self.encode.weight.t(), self.decoder_bias))


class Pretraining(nn.Module):
    """Frozen encoders before the one that is trained."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        pairs = list(itertools.pairwise(widths))
        self.frozen = nn.Sequential(*(Encoder(*pair, is_decoded=False) for pair in pairs[:-1])).requires_grad_(False)
        self.trained = Encoder(*pairs[-1], is_decoded=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The difference between the encoder's input and what is decoded again: to be made zero."""
        with torch.no_grad():
            before = self.frozen(x)
        return self.trained(before) - before


def finetuning(widths: tuple[int, ...]) -> nn.Sequential:
    """All encoders and the classifier."""
    pairs = enumerate(itertools.pairwise(widths), start=1)
    layers: dict[str, nn.Module] = {f"encode{number}": Encoder(*pair, is_decoded=False) for number, pair in pairs}
    return nn.Sequential(OrderedDict(layers, classify=nn.Linear(widths[-1], 10)))


def pretraining_parameters(widths: tuple[int, ...]) -> int:
    """Count the parameters of the frozen encoders and the trained one, whose decoder adds only a bias."""
    return sum(a * b + b for a, b in itertools.pairwise(widths)) + widths[-2]


def main() -> None:
    """Train one part."""
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--part", choices=("ae1", "ae2", "ae3", "finetune"), default="finetune")
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    args = parser.parse_args()
    model, widths = timing.AUTOENCODERS[args.size], timing.WIDTHS[args.size]
    if args.part == "finetune":
        train(lambda: finetuning(widths), model, args)
        return
    widths = widths[: int(args.part[-1]) + 1]
    model = model._replace(name=f"autoencoder-{args.size}-{args.part}", parameters=pretraining_parameters(widths))
    unlabelled = torch.rand(args.batch, 784), torch.zeros(args.batch, widths[-2])
    train(lambda: Pretraining(widths), model, args, unlabelled, nn.MSELoss())


if __name__ == "__main__":
    main()
