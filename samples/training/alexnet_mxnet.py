"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in Gluon.

A plain MXNet 1.x script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read once, when MXNet is loaded.

from mxnet.gluon import nn  # noqa: E402
from training_mxnet import along_images, train  # noqa: E402

# Name, channels in and out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    (1, 3, 96, 11, 4, 0, True),
    (2, 96, 256, 5, 1, 2, True),
    (3, 256, 384, 3, 1, 1, False),
    (4, 384, 384, 3, 1, 1, False),
    (5, 384, 256, 3, 1, 1, True),
)


def alexnet(layout):
    """Input N x 3 x 227 x 227. Local response normalisation is left out, as in the framework comparisons."""
    net = nn.HybridSequential(prefix="")
    for number, inputs, outputs, kernel, stride, padding, is_pooled in CONVOLUTIONS:
        name = f"conv{number}_"
        net.add(nn.Conv2D(outputs, kernel, stride, padding, in_channels=inputs, layout=layout, prefix=name))
        net.add(nn.Activation("relu", prefix=f"relu{number}_"))
        if is_pooled:
            net.add(nn.MaxPool2D(3, 2, layout=layout, prefix=f"pool{number}_"))
    for number, inputs in ((6, 256 * 6 * 6), (7, 4096)):
        net.add(nn.Dense(4096, in_units=inputs, prefix=f"fc{number}_"))
        net.add(nn.Activation("relu", prefix=f"relu{number}_"))
        net.add(nn.Dropout(0.5, prefix=f"drop{number}_"))
    net.add(nn.Dense(1000, in_units=4096, prefix="fc8_"))
    return net


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    arguments = timing.options(__doc__, model).parse_args()
    train(alexnet(along_images(arguments)), model, arguments)
