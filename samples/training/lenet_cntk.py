"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in CNTK 2.7.

A plain CNTK script: it does not know traceview, so that what is measured around it is any script's case.
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
    parser.add_argument("--layout", choices=("nchw",), default="nchw", help="CNTK has no other")
    parser.add_argument("--threads", type=int, help="CPU threads; default: CNTK's own choice")
    return parser.parse_args()


ARGS = arguments()
if ARGS.threads:
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(ARGS.threads)  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
import numpy as np  # noqa: E402


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
        C.layers.Dense(CLASSES, name="fc2"),
    ]
    with C.layers.default_options(init=C.glorot_uniform()):
        return C.layers.Sequential(layers)(images)


def main():
    """Train for a few steps and print the loss and the mean time of every tenth."""
    C.try_set_default_device(C.gpu(0) if ARGS.device == "cuda" else C.cpu())
    images, labels = C.input_variable((1, 28, 28)), C.input_variable(CLASSES)
    net = lenet(images)
    count = sum(int(np.prod(parameter.shape)) for parameter in net.parameters)
    assert count == PARAMETERS, count
    loss = C.cross_entropy_with_softmax(net, labels)
    learner = C.sgd(net.parameters, C.learning_parameter_schedule(0.01))
    trainer = C.Trainer(net, (loss, None), [learner])
    rng = np.random.RandomState(0)
    feed = {
        images: rng.randn(ARGS.batch, 1, 28, 28).astype(np.float32),
        labels: np.eye(CLASSES, dtype=np.float32)[rng.randint(0, CLASSES, ARGS.batch)],
    }
    print(f"lenet: {count} parameters, batch {ARGS.batch}, {ARGS.device}, {ARGS.layout}")

    start = time.perf_counter()
    for step in range(1, ARGS.steps + 1):
        trainer.train_minibatch(feed)
        if step % 10 == 0 or step == ARGS.steps:
            value = trainer.previous_minibatch_loss_average
            mean_ms = 1e3 * (time.perf_counter() - start) / step
            print(f"step {step}: loss {value:.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
