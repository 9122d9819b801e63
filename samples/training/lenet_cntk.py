"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in CNTK 2.7.

A plain CNTK script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
from training_cntk import train  # noqa: E402


def lenet(images):
    """Input N x 1 x 28 x 28, two convolutions without padding, two fully connected layers."""
    layers = []
    for number, channels in ((1, 20), (2, 50)):
        layers += [
            C.layers.Convolution2D((5, 5), channels, pad=False, name=f"conv{number}"),
            C.layers.MaxPooling((2, 2), (2, 2), name=f"pool{number}"),
            C.layers.Activation(C.tanh, name=f"tanh{number}"),
        ]
    layers += [
        C.layers.Dense(500, name="fc1"),
        C.layers.Activation(C.relu, name="relu1"),
        C.layers.Dense(10, name="fc2"),
    ]
    return C.layers.Sequential(layers)(images)


if __name__ == "__main__":
    model = timing.MODELS["lenet"]
    train(lenet, model, timing.options(__doc__, model).parse_args())
