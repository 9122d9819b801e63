"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in Theano.

A plain Theano script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import os
import time

import numpy as np

PARAMETERS = 62_378_344
CLASSES = 1000
# Name, channels in and out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    ("conv1", 3, 96, 11, 4, 0, True),
    ("conv2", 96, 256, 5, 1, 2, True),
    ("conv3", 256, 384, 3, 1, 1, False),
    ("conv4", 384, 384, 3, 1, 1, False),
    ("conv5", 384, 256, 3, 1, 1, True),
)
CONNECTED = (("fc6", 256 * 6 * 6, 4096), ("fc7", 4096, 4096), ("fc8", 4096, CLASSES))


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--layout", choices=("nchw",), default="nchw", help="memory format; Theano has nchw alone")
    parser.add_argument("--threads", type=int, help="CPU threads; default: one, or as THEANO_FLAGS=openmp says")
    return parser.parse_args()


ARGS = arguments()
# Both are read once, when Theano is loaded.
if ARGS.threads:
    os.environ["OMP_NUM_THREADS"] = str(ARGS.threads)
FLAGS = f"floatX=float32,device={ARGS.device},openmp={(ARGS.threads or 1) > 1}"
os.environ["THEANO_FLAGS"] = ",".join(filter(None, [FLAGS, os.environ.get("THEANO_FLAGS")]))

import theano  # noqa: E402
import theano.tensor as tt  # noqa: E402
from theano.sandbox.rng_mrg import MRG_RandomStreams  # noqa: E402
from theano.tensor.nnet import categorical_crossentropy, conv2d, relu, softmax  # noqa: E402
from theano.tensor.signal.pool import pool_2d  # noqa: E402


def variables():
    """The parameters by name."""
    random = np.random.RandomState(0)
    shapes = {name: (outputs, inputs, kernel, kernel) for name, inputs, outputs, kernel, *_ in CONVOLUTIONS}
    shapes.update({name: (inputs, outputs) for name, inputs, outputs in CONNECTED})
    found = {}
    for name, shape in shapes.items():
        size = shape[0] if len(shape) == 4 else shape[1]
        for kind, value in (("W", 0.01 * random.standard_normal(shape)), ("b", np.zeros(size))):
            found[f"{name}.{kind}"] = theano.shared(value.astype("float32"), name=f"{name}.{kind}")
    return found


def alexnet(x, var):
    """Images N x 3 x 227 x 227 to scores N x 1000. Local response normalisation is left out, as in the comparisons."""
    random = MRG_RandomStreams(1)
    for name, inputs, outputs, kernel, stride, padding, is_pooled in CONVOLUTIONS:
        shape = (outputs, inputs, kernel, kernel)
        x = conv2d(x, var[f"{name}.W"], filter_shape=shape, border_mode=padding, subsample=(stride, stride))
        x = relu(x + var[f"{name}.b"].dimshuffle("x", 0, "x", "x"))
        if is_pooled:
            x = pool_2d(x, (3, 3), ignore_border=True, stride=(2, 2))
    x = x.flatten(2)
    for name, _, _ in CONNECTED[:2]:
        x = relu(tt.dot(x, var[f"{name}.W"]) + var[f"{name}.b"])
        x = 2 * x * random.binomial(x.shape, p=0.5, dtype="float32")
    return tt.dot(x, var["fc8.W"]) + var["fc8.b"]


def main():
    """Train for a few steps and print the loss and the time of each."""
    var = variables()
    count = sum(variable.get_value(borrow=True).size for variable in var.values())
    assert count == PARAMETERS, count
    images, labels = tt.tensor4("images"), tt.ivector("labels")
    loss = categorical_crossentropy(softmax(alexnet(images, var)), labels).mean()
    updates = []
    for each, gradient in zip(var.values(), tt.grad(loss, list(var.values()))):
        velocity = theano.shared(0 * each.get_value(borrow=True), name=f"{each.name}.velocity")
        change = 0.9 * velocity - 0.01 * gradient
        updates += [(velocity, change), (each, each + change)]
    train = theano.function([images, labels], loss, updates=updates, name="train")
    random = np.random.RandomState(0)
    x = random.standard_normal((ARGS.batch, 3, 227, 227)).astype("float32")
    y = random.randint(0, CLASSES, ARGS.batch).astype("int32")
    print(f"alexnet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    for step in range(1, ARGS.steps + 1):
        start = time.perf_counter()
        value = train(x, y)
        if step % 2 == 0 or step == ARGS.steps:
            print(f"step {step}: loss {float(value):.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
