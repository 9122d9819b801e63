"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, 131,584 in the gates.

A loop of the graph, or its steps one by one; a mask keeps the state of sequences that have ended. A plain TensorFlow
script without Keras: it does not know traceview, so that what is measured is any script's case.
"""

from __future__ import annotations

import tensorflow as tf
import timing
from timing import WIDTH, WORDS
from training_tensorflow import Layers, train


def lstm(layers: Layers, words: tf.Tensor, lengths: tf.Tensor, is_unrolled: bool) -> tf.Tensor:
    """Words N x T and lengths N to scores N x 2."""
    with tf.name_scope("embedding"):
        x = tf.gather(layers.weight("embedding", (WORDS, WIDTH), 1.0), words)
    longest = words.shape[1]
    mask = tf.sequence_mask(lengths, longest, tf.float32)
    state = cell = total = tf.zeros((words.shape[0], WIDTH))
    for step in range(longest) if is_unrolled else tf.range(longest):
        gates = layers.dense(tf.concat([x[:, step], state], 1), "gates", 4 * WIDTH)
        read, forget, write, new = tf.split(gates, 4, 1)
        is_on = mask[:, step, None]
        updated = tf.sigmoid(forget) * cell + tf.sigmoid(read) * tf.tanh(new)
        cell = is_on * updated + (1 - is_on) * cell
        state = is_on * tf.sigmoid(write) * tf.tanh(updated) + (1 - is_on) * state
        total += is_on * state
    mean = total / tf.cast(lengths, tf.float32)[:, None]
    return layers.dense(layers.dropped(mean, "dropout"), "classify", 2)


def main() -> None:
    """Train it."""
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    parser.add_argument("--unrolled", action="store_true", help="a graph of every step: faster, but long to make")
    args = parser.parse_args()

    def unrolled_or_not(layers: Layers, words: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        return lstm(layers, words, lengths, args.unrolled)

    train(unrolled_or_not, model, args, args.length)


if __name__ == "__main__":
    main()
