"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in Gluon of MXNet 1.x.

A plain MXNet script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read once, when MXNet is loaded.

from mxnet.gluon import nn  # noqa: E402
from training_mxnet import along_images, train  # noqa: E402


def lenet(layout):
    """Input N x 1 x 28 x 28 (or N x 28 x 28 x 1), two convolutions without padding, two fully connected layers."""
    net = nn.HybridSequential(prefix="")
    for number, channels, inputs in ((1, 20, 1), (2, 50, 20)):
        net.add(
            nn.Conv2D(channels, 5, in_channels=inputs, layout=layout, prefix=f"conv{number}_"),
            nn.MaxPool2D(2, 2, layout=layout, prefix=f"pool{number}_"),
            nn.Activation("tanh", prefix=f"tanh{number}_"),
        )
    net.add(
        nn.Dense(500, in_units=800, prefix="fc1_"),
        nn.Activation("relu", prefix="relu1_"),
        nn.Dense(10, in_units=500, prefix="fc2_"),
    )
    return net


if __name__ == "__main__":
    model = timing.MODELS["lenet"]
    arguments = timing.options(__doc__, model).parse_args()
    train(lenet(along_images(arguments)), model, arguments)
