"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in Gluon.

A plain MXNet 1.x script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import os
import time

PARAMETERS = 62_378_344
CLASSES = 1000
# Name, channels in and out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    (1, 3, 96, 11, 4, 0, True),
    (2, 96, 256, 5, 1, 2, True),
    (3, 256, 384, 3, 1, 1, False),
    (4, 384, 384, 3, 1, 1, False),
    (5, 384, 256, 3, 1, 1, True),
)


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nchw", help="memory format; a CPU has nchw alone"
    )
    parser.add_argument("--threads", type=int, help="CPU threads; default: MXNet's own choice")
    return parser.parse_args()


ARGS = arguments()
if ARGS.threads:
    os.environ["OMP_NUM_THREADS"] = str(ARGS.threads)  # Read once, when MXNet is loaded.

import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402
from mxnet.gluon import nn  # noqa: E402


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
    net.add(nn.Dense(CLASSES, in_units=4096, prefix="fc8_"))
    return net


def main():
    """Train for a few steps and print the loss and the time of each."""
    context = mx.gpu() if ARGS.device == "cuda" else mx.cpu()
    mx.random.seed(0)
    net = alexnet(ARGS.layout.upper())
    net.initialize(mx.init.Normal(0.01), ctx=context)
    net.hybridize()
    count = sum(parameter.data().size for parameter in net.collect_params().values())
    assert count == PARAMETERS, count
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    shape = (ARGS.batch, 3, 227, 227) if ARGS.layout == "nchw" else (ARGS.batch, 227, 227, 3)
    images = mx.nd.random.normal(shape=shape, ctx=context)
    labels = mx.nd.random.randint(0, CLASSES, shape=(ARGS.batch,), ctx=context)
    print(f"alexnet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    for step in range(1, ARGS.steps + 1):
        start = time.perf_counter()
        with autograd.record():
            loss = criterion(net(images), labels)
        loss.backward()
        trainer.step(ARGS.batch)
        if step % 2 == 0 or step == ARGS.steps:
            value = loss.mean().asscalar()
            print(f"step {step}: loss {value:.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
