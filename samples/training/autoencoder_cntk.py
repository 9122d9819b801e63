"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes, in CNTK 2.7.

A plain CNTK script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read when CNTK is loaded.

import cntk as C  # noqa: E402, N812
from training_cntk import train  # noqa: E402


def encoders(x, widths):
    """784 numbers to ten scores."""
    layers = []
    for number, width in enumerate(widths[1:], start=1):
        layers.append(C.layers.Dense(width, name=f"encode{number}"))
        layers.append(C.layers.Activation(C.sigmoid, name=f"sigmoid{number}"))
    return C.layers.Sequential([*layers, C.layers.Dense(10, name="classify")])(x)


if __name__ == "__main__":
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    arguments = parser.parse_args()
    widths = timing.WIDTHS[arguments.size]
    train(lambda x: encoders(x, widths), timing.AUTOENCODERS[arguments.size], arguments)
