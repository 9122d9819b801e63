"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, 131,584 in the gates.

Step by step, unrolled; a mask keeps the state of sequences that have ended. A plain MXNet 1.x script: it does not know
traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read once, when MXNet is loaded.

from mxnet.gluon import nn  # noqa: E402
from timing import WIDTH, WORDS  # noqa: E402
from training_mxnet import train  # noqa: E402


class MaskedLstm(nn.HybridBlock):
    """One layer: the gates of a step are one product of input and state, with one bias."""

    def __init__(self, batch, longest):
        super().__init__(prefix="")
        self.batch, self.longest = batch, longest
        with self.name_scope():
            self.embedding = nn.Embedding(WORDS, WIDTH, prefix="embedding_")
            self.gates = nn.Dense(4 * WIDTH, in_units=2 * WIDTH, prefix="gates_")
            self.dropout = nn.Dropout(0.5, prefix="dropout_")
            self.classify = nn.Dense(2, in_units=WIDTH, prefix="classify_")

    def hybrid_forward(self, F, words, lengths):  # noqa: N803
        """Words N x T and lengths N to scores N x 2."""
        x = F.split(self.embedding(words), self.longest, axis=1, squeeze_axis=True)
        lengths = F.expand_dims(lengths, 1)
        state = cell = total = F.zeros((self.batch, WIDTH))
        for step in range(self.longest):
            gates = self.gates(F.concat(x[step], state, dim=1))
            read, forget, write, new = F.split(gates, 4, axis=1)
            is_on = lengths > step
            updated = F.sigmoid(forget) * cell + F.sigmoid(read) * F.tanh(new)
            cell = F.broadcast_mul(updated, is_on) + F.broadcast_mul(cell, 1 - is_on)
            fresh = F.sigmoid(write) * F.tanh(updated)
            state = F.broadcast_mul(fresh, is_on) + F.broadcast_mul(state, 1 - is_on)
            total = total + F.broadcast_mul(state, is_on)
        return self.classify(self.dropout(F.broadcast_div(total, lengths)))


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    train(MaskedLstm(arguments.batch, arguments.length), model, arguments, arguments.length)
