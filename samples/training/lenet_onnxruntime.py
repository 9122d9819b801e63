"""LeNet inference with ONNX Runtime on random data: 431,080 parameters, tanh after pooling.

A plain script that makes its model with the `onnx` package: it does not know traceview, so that what is measured around
it is any script's case.
"""

import timing
from training_onnxruntime import run

if __name__ == "__main__":
    run(__doc__, timing.MODELS["lenet"], timing.LENET_LAYERS)
