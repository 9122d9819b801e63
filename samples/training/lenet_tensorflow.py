"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, in a tf.function of its own.

A plain TensorFlow script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import argparse
import time

import tensorflow as tf

PARAMETERS = 431_080
CLASSES = 10


class LeNet(tf.Module):
    """Input N x 28 x 28 x 1 (or N x 1 x 28 x 28), two convolutions without padding, two fully connected layers."""

    def __init__(self, layout: str) -> None:
        super().__init__()
        self.layout = layout.upper()
        shapes = {"conv1": (5, 5, 1, 20), "conv2": (5, 5, 20, 50), "fc1": (800, 500), "fc2": (500, CLASSES)}
        self.weights = {name: tf.Variable(0.05 * tf.random.normal(shape)) for name, shape in shapes.items()}
        self.biases = {name: tf.Variable(tf.zeros(shape[-1])) for name, shape in shapes.items()}

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        """Images to scores N x 10."""
        x = images
        for number in (1, 2):
            x = self.convolution(x, f"conv{number}")
            x = tf.nn.max_pool2d(x, 2, 2, "VALID", data_format=self.layout, name=f"pool{number}")
            x = tf.nn.tanh(x, name=f"tanh{number}")
        x = tf.nn.relu(self.dense(tf.reshape(x, (x.shape[0], -1)), "fc1"))
        return self.dense(x, "fc2")

    def convolution(self, x: tf.Tensor, name: str) -> tf.Tensor:
        """Convolution with bias, in a name scope that makes it a layer."""
        with tf.name_scope(name):
            x = tf.nn.conv2d(x, self.weights[name], 1, "VALID", data_format=self.layout)
            return tf.nn.bias_add(x, self.biases[name], data_format=self.layout)

    def dense(self, x: tf.Tensor, name: str) -> tf.Tensor:
        """Fully connected layer."""
        with tf.name_scope(name):
            return tf.nn.bias_add(tf.matmul(x, self.weights[name]), self.biases[name])


def arguments() -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nhwc", help="memory format; a CPU has nhwc alone"
    )
    parser.add_argument("--threads", type=int, help="CPU threads; default: TensorFlow's own choice")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the mean time of every tenth."""
    args = arguments()
    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    device = args.device or ("cuda" if tf.config.list_physical_devices("GPU") else "cpu")
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    tf.random.set_seed(0)

    model = LeNet(args.layout)
    count = sum(variable.shape.num_elements() for variable in model.trainable_variables)
    assert count == PARAMETERS, count
    shape = (args.batch, 28, 28, 1) if args.layout == "nhwc" else (args.batch, 1, 28, 28)
    images = tf.random.normal(shape)
    labels = tf.random.uniform((args.batch,), maxval=CLASSES, dtype=tf.int32)
    print(f"lenet: {count} parameters, batch {args.batch}, {device}, {args.layout}")

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
        variables = model.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    start = time.perf_counter()
    for number in range(1, args.steps + 1):
        loss = step(images, labels)
        if number % 10 == 0 or number == args.steps:
            mean_ms = 1e3 * (time.perf_counter() - start) / number
            print(f"step {number}: loss {float(loss):.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
