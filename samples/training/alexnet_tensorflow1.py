"""AlexNet training on random data: one tower, no groups, 62,378,344 parameters, layers named conv1 to fc8, as a graph.

A plain TensorFlow 1 script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

PARAMETERS = 62_378_344
CLASSES = 1000
# Number, channels out, kernel, stride, padding, and whether a pooling follows.
CONVOLUTIONS = (
    (1, 96, 11, 4, "VALID", True),
    (2, 256, 5, 1, "SAME", True),
    (3, 384, 3, 1, "SAME", False),
    (4, 384, 3, 1, "SAME", False),
    (5, 256, 3, 1, "SAME", True),
)


def alexnet(images, layout, keep):
    """Images of 227 x 227 to scores N x 1000. Local response normalisation is left out, as in the comparisons."""
    x, axis = images, 3 if layout == "NHWC" else 1
    for number, channels, kernel, stride, padding, is_pooled in CONVOLUTIONS:
        with tf.variable_scope(f"conv{number}"):
            filters = variable("filters", (kernel, kernel, int(x.shape[axis]), channels))
            strides = along(stride, layout)
            x = tf.nn.conv2d(x, filters, strides, padding, data_format=layout)
            x = tf.nn.bias_add(x, variable("bias", (channels,)), layout)
        x = tf.nn.relu(x, name=f"relu{number}")
        if is_pooled:
            x = tf.nn.max_pool(x, along(3, layout), along(2, layout), "VALID", layout, name=f"pool{number}")
    x = tf.reshape(x, (-1, 256 * 6 * 6))
    for number in (6, 7):
        x = tf.nn.relu(dense(x, 4096, f"fc{number}"), name=f"relu{number}")
        x = tf.nn.dropout(x, keep, name=f"drop{number}")
    return dense(x, CLASSES, "fc8")


def along(size, layout):
    """A window or stride over height and width."""
    return [1, size, size, 1] if layout == "NHWC" else [1, 1, size, size]


def variable(name, shape):
    """A parameter."""
    is_bias = len(shape) == 1
    initializer = tf.zeros_initializer() if is_bias else tf.random_normal_initializer(stddev=0.01)
    return tf.get_variable(name, shape, initializer=initializer)


def dense(x, size, name):
    """A fully connected layer."""
    with tf.variable_scope(name):
        return tf.nn.bias_add(tf.matmul(x, variable("weights", (int(x.shape[1]), size))), variable("bias", (size,)))


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nhwc", help="memory format; a CPU has nhwc alone"
    )
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; default: TensorFlow's own choice")
    return parser.parse_args()


def main():
    """Train for a few steps and print the loss and the time of each."""
    args = arguments()
    tf.set_random_seed(0)
    shape = (227, 227, 3) if args.layout == "nhwc" else (3, 227, 227)
    with tf.device("/gpu:0" if args.device == "cuda" else "/cpu:0"):
        images = tf.placeholder(tf.float32, (None, *shape), name="images")
        labels = tf.placeholder(tf.int32, (None,), name="labels")
        scores = alexnet(images, args.layout.upper(), 0.5)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    count = sum(int(np.prod(parameter.shape.as_list())) for parameter in tf.trainable_variables())
    assert count == PARAMETERS, count
    random = np.random.RandomState(0)
    feed = {
        images: random.randn(args.batch, *shape).astype("float32"),
        labels: random.randint(0, CLASSES, args.batch),
    }
    print(f"alexnet: {count} parameters, batch {args.batch}, {args.device}, {args.layout}")

    config = tf.ConfigProto(intra_op_parallelism_threads=args.threads, inter_op_parallelism_threads=bool(args.threads))
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            start = time.time()
            value, _ = session.run([loss, train], feed)
            if step % 2 == 0 or step == args.steps:
                print(f"step {step}: loss {value:.4f}, {1e3 * (time.time() - start):.0f} ms", flush=True)


if __name__ == "__main__":
    main()
