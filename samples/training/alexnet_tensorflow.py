"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8.

A plain TensorFlow script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import argparse
import time

import tensorflow as tf

PARAMETERS = 62_378_344
CLASSES = 1000
CONVOLUTIONS = (
    # name, filter (height, width, inputs, outputs), stride, padding, maximum of 3 x 3 after it
    ("conv1", (11, 11, 3, 96), 4, "VALID", True),
    ("conv2", (5, 5, 96, 256), 1, "SAME", True),
    ("conv3", (3, 3, 256, 384), 1, "SAME", False),
    ("conv4", (3, 3, 384, 384), 1, "SAME", False),
    ("conv5", (3, 3, 384, 256), 1, "SAME", True),
)
DENSE = (("fc6", (9216, 4096)), ("fc7", (4096, 4096)), ("fc8", (4096, CLASSES)))


class AlexNet(tf.Module):
    """Input N x 227 x 227 x 3 (or N x 3 x 227 x 227). Local response normalisation is left out."""

    def __init__(self, layout: str) -> None:
        super().__init__()
        self.layout = layout.upper()
        shapes = {name: shape for name, shape, *_ in [*CONVOLUTIONS, *DENSE]}
        self.weights = {name: tf.Variable(0.01 * tf.random.normal(shape)) for name, shape in shapes.items()}
        self.biases = {name: tf.Variable(tf.zeros(shape[-1])) for name, shape in shapes.items()}

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        """Images to scores N x 1000, with dropout."""
        x = images
        for name, _, stride, padding, is_pooled in CONVOLUTIONS:
            with tf.name_scope(name):
                x = tf.nn.conv2d(x, self.weights[name], stride, padding, data_format=self.layout)
                x = tf.nn.relu(tf.nn.bias_add(x, self.biases[name], data_format=self.layout))
            if is_pooled:
                x = tf.nn.max_pool2d(x, 3, 2, "VALID", data_format=self.layout, name=f"pool{name[-1]}")
        x = tf.reshape(x, (x.shape[0], -1))
        for name, _ in DENSE:
            with tf.name_scope(name):
                x = tf.nn.bias_add(tf.matmul(x, self.weights[name]), self.biases[name])
                x = x if name == "fc8" else tf.nn.relu(x)
            if name != "fc8":
                x = tf.nn.dropout(x, 0.5, name=f"drop{name[-1]}")
        return x


def arguments() -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nhwc", help="memory format; a CPU has nhwc alone"
    )
    parser.add_argument("--threads", type=int, help="CPU threads; default: TensorFlow's own choice")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the time of each second one."""
    args = arguments()
    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    device = args.device or ("cuda" if tf.config.list_physical_devices("GPU") else "cpu")
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    tf.random.set_seed(0)

    model = AlexNet(args.layout)
    count = sum(variable.shape.num_elements() for variable in model.trainable_variables)
    assert count == PARAMETERS, count
    shape = (args.batch, 227, 227, 3) if args.layout == "nhwc" else (args.batch, 3, 227, 227)
    images = tf.random.normal(shape)
    labels = tf.random.uniform((args.batch,), maxval=CLASSES, dtype=tf.int32)
    print(f"alexnet: {count} parameters, batch {args.batch}, {device}, {args.layout}")

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
        variables = model.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    for number in range(1, args.steps + 1):
        start = time.perf_counter()
        loss = step(images, labels)
        if number % 2 == 0 or number == args.steps:
            print(f"step {number}: loss {float(loss):.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
