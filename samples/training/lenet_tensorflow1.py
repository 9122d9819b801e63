"""LeNet training on random data: 431,080 parameters, batch 64, tanh after pooling, as a graph of TensorFlow 1.

A plain TensorFlow 1 script: it does not know traceview, so that what is measured around it is any script's case.
"""

import tensorflow as tf
import timing
from training_tensorflow1 import convolution, dense, maximum, train


def main():
    """Train it."""
    model = timing.MODELS["lenet"]
    args = timing.options(__doc__, model, "nhwc").parse_args()
    layout = args.layout.upper()

    def lenet(images, is_training):
        x = images
        for number, filters in ((1, 20), (2, 50)):
            x = convolution(x, filters, 5, f"conv{number}", layout)
            x = tf.nn.tanh(maximum(x, 2, f"pool{number}", layout), name=f"tanh{number}")
        x = tf.nn.relu(dense(tf.reshape(x, (-1, 800)), 500, "fc1"), name="relu1")
        return dense(x, 10, "fc2")

    train(lenet, model, args)


if __name__ == "__main__":
    main()
