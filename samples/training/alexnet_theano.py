"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in Theano.

A plain Theano script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.theano_flags()  # Read once, when Theano is loaded.

from theano.tensor.nnet import conv2d, relu  # noqa: E402
from theano.tensor.signal.pool import pool_2d  # noqa: E402
from training_theano import dense, dropped, train, variables  # noqa: E402

# Name, channels in and out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    ("conv1", 3, 96, 11, 4, 0, True),
    ("conv2", 96, 256, 5, 1, 2, True),
    ("conv3", 256, 384, 3, 1, 1, False),
    ("conv4", 384, 384, 3, 1, 1, False),
    ("conv5", 384, 256, 3, 1, 1, True),
)
DENSE = {"fc6": (256 * 6 * 6, 4096), "fc7": (4096, 4096), "fc8": (4096, 1000)}


def alexnet(x, var, is_training):
    """Images N x 3 x 227 x 227 to scores N x 1000. Local response normalisation is left out, as in the comparisons."""
    for name, inputs, outputs, kernel, stride, padding, is_pooled in CONVOLUTIONS:
        shape = (outputs, inputs, kernel, kernel)
        x = conv2d(x, var[f"{name}.W"], filter_shape=shape, border_mode=padding, subsample=(stride, stride))
        x = relu(x + var[f"{name}.b"].dimshuffle("x", 0, "x", "x"))
        if is_pooled:
            x = pool_2d(x, (3, 3), ignore_border=True, stride=(2, 2))
    x = x.flatten(2)
    for name in ("fc6", "fc7"):
        x = dropped(relu(dense(x, var, name)), is_training)
    return dense(x, var, "fc8")


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    shapes = {name: (outputs, inputs, kernel, kernel) for name, inputs, outputs, kernel, *_ in CONVOLUTIONS}
    shapes.update(DENSE)
    train(alexnet, variables(shapes), model, timing.options(__doc__, model).parse_args())
