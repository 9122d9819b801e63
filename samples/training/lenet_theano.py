"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in Theano.

A plain Theano script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.theano_flags()  # Read once, when Theano is loaded.

import theano.tensor as tt  # noqa: E402
from theano.tensor.nnet import conv2d, relu  # noqa: E402
from theano.tensor.signal.pool import pool_2d  # noqa: E402
from training_theano import dense, train, variables  # noqa: E402

SHAPES = {"conv1": (20, 1, 5, 5), "conv2": (50, 20, 5, 5), "fc1": (800, 500), "fc2": (500, 10)}


def lenet(x, var, is_training):
    """Images N x 1 x 28 x 28 to scores N x 10."""
    for name in ("conv1", "conv2"):
        x = conv2d(x, var[f"{name}.W"], filter_shape=SHAPES[name]) + var[f"{name}.b"].dimshuffle("x", 0, "x", "x")
        x = tt.tanh(pool_2d(x, (2, 2), ignore_border=True))
    return dense(relu(dense(x.flatten(2), var, "fc1")), var, "fc2")


if __name__ == "__main__":
    model = timing.MODELS["lenet"]
    train(lenet, variables(SHAPES), model, timing.options(__doc__, model).parse_args())
