"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths, as a graph: 1,411,842 parameters.

TensorFlow's own cell in its loop over the time, which is told the lengths. A plain TensorFlow 1 script: it does not
know traceview, so that what is measured around it is any script's case.
"""

import tensorflow as tf
import timing
from timing import WIDTH, WORDS
from training_tensorflow1 import dense, train


def lstm(words, lengths, is_training):
    """Words N x T and lengths N to scores N x 2."""
    with tf.variable_scope("embedding"):
        table = tf.get_variable("weights", (WORDS, WIDTH), initializer=tf.random_normal_initializer())
        x = tf.nn.embedding_lookup(table, words)
    cell = tf.nn.rnn_cell.LSTMCell(WIDTH, forget_bias=0.0, name="gates")
    states, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)  # zero after the end of a sequence
    mean = tf.reduce_sum(states, 1) / tf.cast(lengths, tf.float32)[:, None]
    if is_training:
        mean = tf.nn.dropout(mean, rate=0.5, name="dropout")
    return dense(mean, 2, "classify")


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    train(lstm, model, arguments, arguments.length)
