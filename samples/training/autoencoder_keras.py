"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes, with Keras.

A plain Keras 3 script for the back-end that `--backend` or KERAS_BACKEND names (tensorflow, torch or jax): it does not
know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import timing
from training_keras import keras, options, train


def encoders(widths: tuple[int, ...]) -> keras.Model:
    """784 numbers to ten scores."""
    layers = [
        keras.layers.Dense(width, activation="sigmoid", name=f"encode{number}")
        for number, width in enumerate(widths[1:], start=1)
    ]
    return keras.Sequential([keras.Input(widths[:1]), *layers, keras.layers.Dense(10, name="classify")])


if __name__ == "__main__":
    parser = options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    arguments = parser.parse_args()
    train(lambda: encoders(timing.WIDTHS[arguments.size]), timing.AUTOENCODERS[arguments.size], arguments)
