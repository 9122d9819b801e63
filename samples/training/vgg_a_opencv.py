"""VGG-A inference with OpenCV 4, as a model of Caffe's on random data: 132,863,336 parameters.

A plain script: it does not know traceview.
"""

import timing
from training_opencv import run

if __name__ == "__main__":
    run(__doc__, timing.MODELS["vgg_a"], timing.VGG_A_LAYERS)
