"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, 131,584 in the gates.

Words of 10,000, embedding and state of 128, the mean over time, dropout, two classes. A batch is padded to its longest
sequence; a mask keeps the state of those that have ended and leaves the padding out of the mean.
"""

from __future__ import annotations

import timing
import torch
from timing import WIDTH, WORDS
from torch import nn
from training_torch import random_batch, train


class MaskedLstm(nn.Module):
    """One layer, step by step: the gates of a step are one product of input and state."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.gates = nn.Linear(2 * WIDTH, 4 * WIDTH)
        self.dropout = nn.Dropout()
        self.classify = nn.Linear(WIDTH, 2)

    def forward(self, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Words N x T and lengths N to scores N x 2."""
        x = self.embedding(words)
        mask = (torch.arange(words.shape[1], device=words.device) < lengths[:, None]).to(x.dtype)
        state = cell = total = x.new_zeros(words.shape[0], WIDTH)
        for step in range(words.shape[1]):
            read, forget, write, new = self.gates(torch.cat([x[:, step], state], 1)).chunk(4, 1)
            is_on = mask[:, step, None]
            updated = torch.sigmoid(forget) * cell + torch.sigmoid(read) * torch.tanh(new)
            cell = is_on * updated + (1 - is_on) * cell
            state = is_on * torch.sigmoid(write) * torch.tanh(updated) + (1 - is_on) * state
            total = total + is_on * state
        return self.classify(self.dropout(total / lengths[:, None]))


def main() -> None:
    """Train on one batch of random words."""
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    args = parser.parse_args()
    train(MaskedLstm, model, args, random_batch(model, args.batch, args.length))


if __name__ == "__main__":
    main()
