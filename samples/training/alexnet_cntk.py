"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, in CNTK 2.7.

A plain CNTK script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import os
import time

PARAMETERS = 62_378_344
CLASSES = 1000
# Name, channels out, kernel, stride, padding, and whether a pooling follows; three colours come in.
CONVOLUTIONS = (
    (1, 96, 11, 4, 0, True),
    (2, 256, 5, 1, 2, True),
    (3, 384, 3, 1, 1, False),
    (4, 384, 3, 1, 1, False),
    (5, 256, 3, 1, 1, True),
)


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--layout", choices=("nchw",), default="nchw", help="CNTK has no other")
    parser.add_argument("--threads", type=int, help="CPU threads; default: CNTK's own choice")
    return parser.parse_args()


ARGS = arguments()
if ARGS.threads:
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(ARGS.threads)  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
import numpy as np  # noqa: E402


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
    layers.append(C.layers.Dense(CLASSES, name="fc8"))
    with C.layers.default_options(init=C.normal(0.01)):
        return C.layers.Sequential(layers)(images)


def main():
    """Train for a few steps and print the loss and the time of each."""
    C.try_set_default_device(C.gpu(0) if ARGS.device == "cuda" else C.cpu())
    images, labels = C.input_variable((3, 227, 227)), C.input_variable(CLASSES)
    net = alexnet(images)
    count = sum(int(np.prod(parameter.shape)) for parameter in net.parameters)
    assert count == PARAMETERS, count
    loss = C.cross_entropy_with_softmax(net, labels)
    rate, momentum = C.learning_parameter_schedule(0.01), C.momentum_schedule(0.9)
    learner = C.momentum_sgd(net.parameters, rate, momentum)
    trainer = C.Trainer(net, (loss, None), [learner])
    rng = np.random.RandomState(0)
    feed = {
        images: rng.randn(ARGS.batch, 3, 227, 227).astype(np.float32),
        labels: np.eye(CLASSES, dtype=np.float32)[rng.randint(0, CLASSES, ARGS.batch)],
    }
    print(f"alexnet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    for step in range(1, ARGS.steps + 1):
        start = time.perf_counter()
        trainer.train_minibatch(feed)
        if step % 2 == 0 or step == ARGS.steps:
            value = trainer.previous_minibatch_loss_average
            print(f"step {step}: loss {value:.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
