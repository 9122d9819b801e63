"""The stacked autoencoder of Bahrampour et al. (2015), its fine-tuning: three encoders and ten classes, in Gluon.

A plain MXNet 1.x script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing

timing.limit_threads()  # Read once, when MXNet is loaded.

from mxnet.gluon import nn  # noqa: E402
from training_mxnet import train  # noqa: E402


def encoders(widths):
    """784 numbers to ten scores."""
    net = nn.HybridSequential(prefix="")
    for number, (inputs, outputs) in enumerate(zip(widths, widths[1:]), start=1):
        net.add(nn.Dense(outputs, in_units=inputs, prefix=f"encode{number}_"))
        net.add(nn.Activation("sigmoid", prefix=f"sigmoid{number}_"))
    net.add(nn.Dense(10, in_units=widths[-1], prefix="classify_"))
    return net


if __name__ == "__main__":
    parser = timing.options(__doc__, timing.AUTOENCODERS["small"])
    parser.add_argument("--size", choices=tuple(timing.WIDTHS), default="small")
    arguments = parser.parse_args()
    train(encoders(timing.WIDTHS[arguments.size]), timing.AUTOENCODERS[arguments.size], arguments)
