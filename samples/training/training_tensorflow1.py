"""Code that the TensorFlow 1 samples share: layers of a graph, and a loop over runs of a session."""

import numpy as np
import tensorflow as tf
import timing
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig


def dense(x, size, name):
    """A fully connected layer."""
    with tf.variable_scope(name):
        return tf.nn.bias_add(tf.matmul(x, variable("weights", (int(x.shape[1]), size))), variable("bias", (size,)))


def convolution(x, filters, size, name, layout, stride=1, padding="VALID"):
    """A convolution with its bias."""
    inputs = int(x.shape[layout.index("C")])
    with tf.variable_scope(name):
        weights = variable("filters", (size, size, inputs, filters))
        x = tf.nn.conv2d(x, weights, along(stride, layout), padding, data_format=layout)
        return tf.nn.bias_add(x, variable("bias", (filters,)), layout)


def maximum(x, size, name, layout):
    """Max pooling with stride 2, without padding."""
    return tf.nn.max_pool(x, along(size, layout), along(2, layout), "VALID", layout, name=name)


def along(size, layout):
    """A window or stride over height and width."""
    return [1, size, size, 1] if layout == "NHWC" else [1, 1, size, size]


def variable(name, shape):
    """A parameter."""
    scale = np.sqrt(1 / np.prod(shape[:-1])) if len(shape) > 1 else 0
    return tf.get_variable(name, shape, initializer=tf.random_uniform_initializer(-scale, scale))


def train(network, model, args, longest=None):
    """Train, or do what `--mode` says, with one random batch; `network(inputs..., is_training)` makes scores."""
    config = tf.ConfigProto(
        intra_op_parallelism_threads=args.threads or 0, inter_op_parallelism_threads=bool(args.threads)
    )
    if args.mode == "gradient":
        # It leaves out gradients that nobody fetches, though the fetched group waits for them.
        config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    with tf.Session(config=config) as session:
        gpus = [each for each in session.list_devices() if each.device_type == "GPU"]
        if args.device == "cuda" and not gpus:
            timing.refuse("this TensorFlow has no GPU")
        device = args.device or ("cuda" if gpus else "cpu")
        if args.layout == "nhwc" or device == "cuda" or len(model.shape) < 3:
            run(session, network, model, args, longest, device)
        else:
            timing.refuse("TensorFlow 1 convolves on a CPU in nhwc alone")


def run(session, network, model, args, longest, device):
    """Run the model in a session."""
    tf.set_random_seed(0)
    with tf.device("/gpu:0" if device == "cuda" else "/cpu:0"):
        arrays = timing.batch_of(model, args.batch, args.layout, longest)
        *inputs, labels = feeds = [tf.placeholder(each.dtype, each.shape) for each in arrays]
        scores = network(*inputs, args.mode != "forward")
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
        rule = tf.train.GradientDescentOptimizer(timing.RATE)
        if model.momentum:
            rule = tf.train.MomentumOptimizer(timing.RATE, model.momentum)
        gradients = rule.compute_gradients(loss)
        # The group computes all gradients without fetching them.
        ways = {"forward": [scores], "gradient": [loss, tf.group(*(each for each, _ in gradients))]}
        ways["train"] = [loss, rule.apply_gradients(gradients)]
    session.run(tf.global_variables_initializer())
    batch = dict(zip(feeds, arrays))
    parameters = tf.trainable_variables()
    timing.measure(
        model, args, lambda: session.run(ways[args.mode], batch)[0].flat[0],
        lambda: session.run(parameters[-1]).flat[0],
        framework="tensorflow1", version=tf.__version__, device=device,
        threads=args.threads or timing.cores(),
        parameters=sum(int(np.prod(each.shape.as_list())) for each in parameters),
    )  # fmt: skip
