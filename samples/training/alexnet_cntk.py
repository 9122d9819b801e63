"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in CNTK 2.7.

A plain CNTK script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
from training_cntk import train  # noqa: E402

# Number, channels out, kernel, stride, padding, and whether a pooling follows; three colours come in.
CONVOLUTIONS = (
    (1, 96, 11, 4, 0, True),
    (2, 256, 5, 1, 2, True),
    (3, 384, 3, 1, 1, False),
    (4, 384, 3, 1, 1, False),
    (5, 256, 3, 1, 1, True),
)


def alexnet(images):
    """Input N x 3 x 227 x 227. Local response normalisation is left out, as in the framework comparisons."""
    layers = []
    for number, channels, kernel, stride, padding, is_pooled in CONVOLUTIONS:
        name = f"conv{number}"
        layers.append(C.layers.Convolution2D((kernel, kernel), channels, strides=stride, pad=padding > 0, name=name))
        layers.append(C.layers.Activation(C.relu, name=f"relu{number}"))
        if is_pooled:
            layers.append(C.layers.MaxPooling((3, 3), (2, 2), name=f"pool{number}"))
    for number in (6, 7):
        layers.append(C.layers.Dense(4096, name=f"fc{number}"))
        layers.append(C.layers.Activation(C.relu, name=f"relu{number}"))
        layers.append(C.layers.Dropout(0.5, name=f"drop{number}"))
    layers.append(C.layers.Dense(1000, name="fc8"))
    with C.layers.default_options(init=C.normal(0.01)):
        return C.layers.Sequential(layers)(images)


if __name__ == "__main__":
    model = timing.MODELS["alexnet"]
    train(alexnet, model, timing.options(__doc__, model).parse_args())
