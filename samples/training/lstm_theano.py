"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, 131,584 in the gates.

A scan over the time; a mask keeps the state of sequences that have ended. A plain Theano script: it does not know
traceview, so that what is measured around it is any script's case.
"""

import timing

timing.theano_flags()  # Read once, when Theano is loaded.

import numpy as np  # noqa: E402
import theano  # noqa: E402
import theano.tensor as tt  # noqa: E402
from theano.tensor.nnet import sigmoid  # noqa: E402
from timing import WIDTH, WORDS  # noqa: E402
from training_theano import dense, dropped, train, variables  # noqa: E402


def lstm(words, lengths, var, is_training):
    """Words N x T and lengths N to scores N x 2."""
    x = var["embedding.W"][words.T]
    mask = tt.lt(tt.arange(words.shape[1]).dimshuffle(0, "x"), lengths.dimshuffle("x", 0))
    mask = tt.cast(mask, "float32").dimshuffle(0, 1, "x")

    def advance(x, is_on, state, cell, weight, bias):
        gates = tt.dot(tt.concatenate([x, state], axis=1), weight) + bias
        read, forget, write, new = (gates[:, each * WIDTH : (each + 1) * WIDTH] for each in range(4))
        updated = sigmoid(forget) * cell + sigmoid(read) * tt.tanh(new)
        state = is_on * sigmoid(write) * tt.tanh(updated) + (1 - is_on) * state
        return state, is_on * updated + (1 - is_on) * cell

    zero = tt.zeros((words.shape[0], WIDTH), "float32")
    weights = [var["gates.W"], var["gates.b"]]
    (states, _), _ = theano.scan(advance, sequences=[x, mask], outputs_info=[zero, zero], non_sequences=weights)
    mean = (states * mask).sum(axis=0) / tt.cast(lengths, "float32").dimshuffle(0, "x")
    return dense(dropped(mean, is_training), var, "classify")


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    table = np.random.RandomState(1).standard_normal((WORDS, WIDTH)).astype("float32")
    var = {"embedding.W": theano.shared(table, name="embedding.W")}
    var.update(variables({"gates": (2 * WIDTH, 4 * WIDTH), "classify": (WIDTH, 2)}))
    train(lstm, var, model, arguments, arguments.length)
