"""LeNet inference with OpenCV 4, as a model of Caffe's on random data: 431,080 parameters.

A plain script: it does not know traceview, so that what is measured around it is any script's case.
"""

import timing
from training_opencv import run

if __name__ == "__main__":
    run(__doc__, timing.MODELS["lenet"], timing.LENET_LAYERS)
