"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, as a graph of TensorFlow 1.

A plain TensorFlow 1 script: it does not know traceview, so that what is measured around it is any script's case.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

PARAMETERS = 431_080
CLASSES = 10


def lenet(images, layout):
    """Images N x 28 x 28 x 1 (or N x 1 x 28 x 28) to scores N x 10."""
    x = images
    for number, shape in ((1, (5, 5, 1, 20)), (2, (5, 5, 20, 50))):
        with tf.variable_scope(f"conv{number}"):
            filters = tf.get_variable("filters", shape, initializer=tf.random_normal_initializer(stddev=0.05))
            bias = tf.get_variable("bias", shape[-1:], initializer=tf.zeros_initializer())
            x = tf.nn.bias_add(tf.nn.conv2d(x, filters, [1] * 4, "VALID", data_format=layout), bias, layout)
        window = [1, 2, 2, 1] if layout == "NHWC" else [1, 1, 2, 2]
        x = tf.nn.max_pool(x, window, window, "VALID", data_format=layout, name=f"pool{number}")
        x = tf.nn.tanh(x, name=f"tanh{number}")
    x = tf.nn.relu(dense(tf.reshape(x, (-1, 800)), 500, "fc1"), name="relu1")
    return dense(x, CLASSES, "fc2")


def dense(x, size, name):
    """A fully connected layer."""
    with tf.variable_scope(name):
        shape = (int(x.shape[1]), size)
        weights = tf.get_variable("weights", shape, initializer=tf.random_normal_initializer(stddev=0.05))
        return tf.nn.bias_add(tf.matmul(x, weights), tf.get_variable("bias", size, initializer=tf.zeros_initializer()))


def arguments():
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument(
        "--layout", choices=("nchw", "nhwc"), default="nhwc", help="memory format; a CPU has nhwc alone"
    )
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; default: TensorFlow's own choice")
    return parser.parse_args()


def main():
    """Train for a few steps and print the loss and the mean time of every tenth."""
    args = arguments()
    tf.set_random_seed(0)
    shape = (28, 28, 1) if args.layout == "nhwc" else (1, 28, 28)
    with tf.device("/gpu:0" if args.device == "cuda" else "/cpu:0"):
        images = tf.placeholder(tf.float32, (None, *shape), name="images")
        labels = tf.placeholder(tf.int32, (None,), name="labels")
        scores = lenet(images, args.layout.upper())
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    count = sum(int(np.prod(variable.shape.as_list())) for variable in tf.trainable_variables())
    assert count == PARAMETERS, count
    random = np.random.RandomState(0)
    feed = {
        images: random.randn(args.batch, *shape).astype("float32"),
        labels: random.randint(0, CLASSES, args.batch),
    }
    print(f"lenet: {count} parameters, batch {args.batch}, {args.device}, {args.layout}")

    config = tf.ConfigProto(intra_op_parallelism_threads=args.threads, inter_op_parallelism_threads=bool(args.threads))
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        start = time.time()
        for step in range(1, args.steps + 1):
            value, _ = session.run([loss, train], feed)
            if step % 10 == 0 or step == args.steps:
                mean_ms = 1e3 * (time.time() - start) / step
                print(f"step {step}: loss {value:.4f}, mean {mean_ms:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
