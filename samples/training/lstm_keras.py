"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths, with Keras: 1,411,842 parameters.

Keras' own LSTM with a mask. A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names
(tensorflow, torch or jax): it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
from timing import WIDTH, WORDS
from training_keras import keras, options, train


def lstm(longest: int) -> keras.Model:
    """Words N x T and lengths N to scores N x 2."""
    layers = keras.layers
    words, lengths = keras.Input((longest,), dtype="int32"), keras.Input((), dtype="int32")
    mask = keras.ops.expand_dims(lengths, 1) > keras.ops.arange(longest, dtype="int32")
    states = layers.LSTM(WIDTH, return_sequences=True, name="gates")(
        layers.Embedding(WORDS, WIDTH, name="embedding")(words), mask=mask
    )
    mean = layers.GlobalAveragePooling1D("channels_last", name="mean")(states, mask=mask)
    scores = layers.Dense(2, name="classify")(layers.Dropout(0.5, name="dropout")(mean))
    return keras.Model([words, lengths], scores, name="lstm")


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    train(lambda: lstm(arguments.length), model, arguments, arguments.length)
