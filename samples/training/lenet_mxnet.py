"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in Gluon of MXNet 1.x.

A plain MXNet script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import os
import time

PARAMETERS = 431_080
CLASSES = 10


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
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
        nn.Dense(CLASSES, in_units=500, prefix="fc2_"),
    )
    return net


def main():
    """Train for a few steps and print the loss and the mean time of every tenth."""
    context = mx.gpu() if ARGS.device == "cuda" else mx.cpu()
    mx.random.seed(0)
    net = lenet(ARGS.layout.upper())
    net.initialize(mx.init.Normal(0.05), ctx=context)
    net.hybridize()
    count = sum(parameter.data().size for parameter in net.collect_params().values())
    assert count == PARAMETERS, count
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    shape = (ARGS.batch, 1, 28, 28) if ARGS.layout == "nchw" else (ARGS.batch, 28, 28, 1)
    images = mx.nd.random.normal(shape=shape, ctx=context)
    labels = mx.nd.random.randint(0, CLASSES, shape=(ARGS.batch,), ctx=context)
    print(f"lenet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    start = time.perf_counter()
    for step in range(1, ARGS.steps + 1):
        with autograd.record():
            loss = criterion(net(images), labels)
        loss.backward()
        trainer.step(ARGS.batch)
        if step % 10 == 0 or step == ARGS.steps:
            value = loss.mean().asscalar()
            mean_ms = 1e3 * (time.perf_counter() - start) / step
            print(f"step {step}: loss {value:.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
