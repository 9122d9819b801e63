"""AlexNet training with Keras' `fit` on random data: one tower, no groups, 62,378,344 parameters, conv1 to fc8.

A plain Keras 3 script for the back-end that KERAS_BACKEND names (tensorflow, torch or jax): it does not know traceview,
so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import os

import keras
import numpy as np
from keras import layers

PARAMETERS = 62_378_344
CLASSES = 1000


def alexnet(layout: str) -> keras.Model:
    """Input 227 x 227 x 3. Local response normalisation is left out, as in the framework comparisons."""
    return keras.Sequential(
        [
            keras.Input((227, 227, 3) if layout == "nhwc" else (3, 227, 227)),
            layers.Conv2D(96, 11, strides=4, activation="relu", name="conv1"),
            layers.MaxPooling2D(3, 2, name="pool1"),
            layers.Conv2D(256, 5, padding="same", activation="relu", name="conv2"),
            layers.MaxPooling2D(3, 2, name="pool2"),
            layers.Conv2D(384, 3, padding="same", activation="relu", name="conv3"),
            layers.Conv2D(384, 3, padding="same", activation="relu", name="conv4"),
            layers.Conv2D(256, 3, padding="same", activation="relu", name="conv5"),
            layers.MaxPooling2D(3, 2, name="pool5"),
            layers.Flatten(name="flatten"),
            layers.Dense(4096, activation="relu", name="fc6"),
            layers.Dropout(0.5, name="drop6"),
            layers.Dense(4096, activation="relu", name="fc7"),
            layers.Dropout(0.5, name="drop7"),
            layers.Dense(CLASSES, name="fc8"),
        ],
        name="alexnet",
    )


def arguments() -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=8, help="training steps (default 8)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="cpu hides GPUs; default: the back-end's own choice")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nhwc", help="data format of the layers")
    parser.add_argument("--threads", type=int, help="CPU threads; default: the back-end's own choice")
    return parser.parse_args()


def limit_threads(count: int) -> None:
    """Each back-end has its own way; JAX has none after its start."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(count)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    elif keras.backend.backend() == "torch":
        import torch

        torch.set_num_threads(count)


def main() -> None:
    """Train for one epoch of a few steps and print its loss."""
    args = arguments()
    if args.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if args.threads:
        limit_threads(args.threads)
    keras.config.set_image_data_format("channels_last" if args.layout == "nhwc" else "channels_first")
    keras.utils.set_random_seed(0)

    model = alexnet(args.layout)
    count = model.count_params()
    assert count == PARAMETERS, count
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(0.01, momentum=0.9), loss=loss)
    generator = np.random.default_rng(0)
    images = generator.standard_normal((args.batch * args.steps, *model.input_shape[1:]), np.float32)
    labels = generator.integers(0, CLASSES, args.batch * args.steps)
    print(f"alexnet: {count} parameters, batch {args.batch}, {keras.backend.backend()}, {args.layout}")
    history = model.fit(images, labels, batch_size=args.batch, epochs=1, shuffle=False, verbose=0)
    print(f"step {args.steps}: loss {history.history['loss'][-1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
