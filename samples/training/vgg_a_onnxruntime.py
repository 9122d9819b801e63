"""VGG-A inference with ONNX Runtime on random data: 132,863,336 parameters, conv1_1 to fc8.

A plain script that makes its model with the `onnx` package: it does not know traceview.
"""

import timing
from training_onnxruntime import run

if __name__ == "__main__":
    run(__doc__, timing.MODELS["vgg_a"], timing.VGG_A_LAYERS)
