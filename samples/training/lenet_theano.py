"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in Theano.

A plain Theano script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import os
import time

import numpy as np

PARAMETERS = 431_080
CLASSES = 10


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
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
from theano.tensor.nnet import categorical_crossentropy, conv2d, relu, softmax  # noqa: E402
from theano.tensor.signal.pool import pool_2d  # noqa: E402


def variables():
    """The parameters by name."""
    random = np.random.RandomState(0)
    shapes = {"conv1": (20, 1, 5, 5), "conv2": (50, 20, 5, 5), "fc1": (800, 500), "fc2": (500, CLASSES)}
    found = {}
    for name, shape in shapes.items():
        size = shape[0] if len(shape) == 4 else shape[1]
        for kind, value in (("W", 0.05 * random.randn(*shape)), ("b", np.zeros(size))):
            found[f"{name}.{kind}"] = theano.shared(value.astype("float32"), name=f"{name}.{kind}")
    return found


def lenet(x, var):
    """Images N x 1 x 28 x 28 to scores N x 10."""
    for name in ("conv1", "conv2"):
        shape = var[f"{name}.W"].get_value(borrow=True).shape
        x = conv2d(x, var[f"{name}.W"], filter_shape=shape) + var[f"{name}.b"].dimshuffle("x", 0, "x", "x")
        x = tt.tanh(pool_2d(x, (2, 2), ignore_border=True))
    x = relu(tt.dot(x.flatten(2), var["fc1.W"]) + var["fc1.b"])
    return tt.dot(x, var["fc2.W"]) + var["fc2.b"]


def main():
    """Train for a few steps and print the loss and the mean time of every tenth."""
    var = variables()
    count = sum(variable.get_value(borrow=True).size for variable in var.values())
    assert count == PARAMETERS, count
    images, labels = tt.tensor4("images"), tt.ivector("labels")
    loss = categorical_crossentropy(softmax(lenet(images, var)), labels).mean()
    parameters = list(var.values())
    updates = [(each, each - 0.01 * gradient) for each, gradient in zip(parameters, tt.grad(loss, parameters))]
    train = theano.function([images, labels], loss, updates=updates, name="train")
    random = np.random.RandomState(0)
    x = random.randn(ARGS.batch, 1, 28, 28).astype("float32")
    y = random.randint(0, CLASSES, ARGS.batch).astype("int32")
    print(f"lenet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    start = time.perf_counter()
    for step in range(1, ARGS.steps + 1):
        value = train(x, y)
        if step % 10 == 0 or step == ARGS.steps:
            mean_ms = 1e3 * (time.perf_counter() - start) / step
            print(f"step {step}: loss {float(value):.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
