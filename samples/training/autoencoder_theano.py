"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes, in Theano.

A plain Theano script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.theano_flags()  # Read once, when Theano is loaded.

from theano.tensor.nnet import sigmoid  # noqa: E402
from training_theano import dense, train, variables  # noqa: E402


def encoders(x, var, is_training):
    """784 numbers to ten scores."""
    for number in (1, 2, 3):
        x = sigmoid(dense(x, var, f"encode{number}"))
    return dense(x, var, "classify")


if __name__ == "__main__":
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    arguments = parser.parse_args()
    widths = timing.WIDTHS[arguments.size]
    shapes = {f"encode{number}": pair for number, pair in enumerate(zip(widths, widths[1:]), start=1)}
    shapes["classify"] = (widths[-1], 10)
    train(encoders, variables(shapes), timing.AUTOENCODERS[arguments.size], arguments)
