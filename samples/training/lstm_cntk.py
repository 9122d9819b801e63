"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, in CNTK 2.7.

CNTK's own recurrence over sequences, which packs them. A plain CNTK script: it does not know traceview, so that what is
measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
from timing import WIDTH  # noqa: E402
from training_cntk import train  # noqa: E402


def lstm(words):
    """Sequences of words to scores N x 2: the mean over the time is a sum over it, divided by the length."""
    x = C.layers.Embedding(WIDTH, name="embedding")(words)
    states = C.layers.Recurrence(C.layers.LSTM(WIDTH), name="gates")(x)
    length = C.sequence.reduce_sum(C.sequence.broadcast_as(C.constant(1.0, (1,)), states))
    mean = C.sequence.reduce_sum(states) / length
    return C.layers.Dense(2, name="classify")(C.layers.Dropout(0.5, name="dropout")(mean))


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    train(lstm, model, arguments, arguments.length)
