"""AlexNet inference with ONNX Runtime on random data: 62,378,344 parameters, one tower, no groups, conv1 to fc8.

A plain script that makes its model with the `onnx` package: it does not know traceview, so that what is measured around
it is any script's case.
"""

import timing
from training_onnxruntime import run

if __name__ == "__main__":
    run(__doc__, timing.MODELS["alexnet"], timing.ALEXNET_LAYERS)
