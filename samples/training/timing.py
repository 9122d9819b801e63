"""Parts that the samples of every framework share: facts of models, options, random batches, times, and the last line.

It imports no framework and runs on Python 3.6. Invariant: nothing here knows what watches a sample, so that what is
measured around it is any script's case.
"""

import argparse
import collections
import ctypes
import json
import os
import statistics
import sys
import time
from pathlib import Path

RATE = 0.01
"""The learning rate of every model."""
MODES = ("forward", "gradient", "train")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Model = collections.namedtuple("Model", "name parameters batch steps momentum shape classes")
"""Momentum of its SGD, or 0; the shape of one input, channels first; classes of its labels."""


def imagenet(name, parameters, batch):
    """A larger network on images of 224 x 224 in a thousand classes."""
    return Model(name, parameters, batch, 8, 0.9, (3, 224, 224), 1000)


MODELS = {
    model.name: model
    for model in (
        Model("lenet", 431_080, 64, 20, 0.0, (1, 28, 28), 10),
        Model("alexnet", 62_378_344, 16, 8, 0.9, (3, 227, 227), 1000),
        Model("autoencoder", 415_310, 64, 20, 0.0, (784,), 10),
        Model("lstm", 1_411_842, 16, 8, 0.0, (100,), 2),
        imagenet("vgg_a", 132_863_336, batch=4),
        imagenet("googlenet", 6_998_552, batch=8),
        imagenet("resnet50", 25_557_032, batch=4),
    )
}
"""Facts that are equal in every framework, where there is a sample of the model: the first choice of each sample."""

INCEPTION = (
    # name, 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, pool projection
    ("3a", 64, 96, 128, 16, 32, 32),
    ("3b", 128, 128, 192, 32, 96, 64),
    ("4a", 192, 96, 208, 16, 48, 64),
    ("4b", 160, 112, 224, 24, 64, 64),
    ("4c", 128, 128, 256, 24, 64, 64),
    ("4d", 112, 144, 288, 32, 64, 64),
    ("4e", 256, 160, 320, 32, 128, 128),
    ("5a", 256, 160, 320, 32, 128, 128),
    ("5b", 384, 192, 384, 48, 128, 128),
)
"""Modules of GoogLeNet: filters of their convolutions."""
POOLED_AFTER = ("3b", "4e")
WIDTHS = {"small": (784, 400, 200, 100), "large": (784, 800, 1000, 2000)}
"""Widths of the autoencoder's layers, before the classifier."""
AUTOENCODERS = {
    "small": MODELS["autoencoder"],
    "large": MODELS["autoencoder"]._replace(name="autoencoder-large", parameters=3_451_010),
}
WORDS, WIDTH = 10_000, 128
"""Size of the LSTM: how many words there are, and the width of embedding and state."""
SHORTEST = 12
"""Words of the shortest sequence in a batch of the LSTM."""


class Layer(collections.namedtuple("Layer", "name shape stride padding pool after")):
    """A convolution (with a stride) or fully connected layer and what follows it, for models that are files.

    `shape` is that of its weight, outputs first; `pool` the size of its max pooling of stride 2.
    """

    def weight(self, generator):
        """Random weights."""
        import numpy as np

        scale = np.float32(1 / np.sqrt(np.prod(self.shape[1:])))
        return scale * (2 * generator.random(self.shape, np.float32) - 1)


Layers = tuple
LENET_LAYERS = (
    Layer("conv1", (20, 1, 5, 5), 1, 0, 2, ("pool", "tanh")),
    Layer("conv2", (50, 20, 5, 5), 1, 0, 2, ("pool", "tanh")),
    Layer("fc1", (500, 800), 0, 0, 0, ("relu",)),
    Layer("fc2", (10, 500), 0, 0, 0, ()),
)
ALEXNET_LAYERS = (
    Layer("conv1", (96, 3, 11, 11), 4, 0, 3, ("relu", "pool")),
    Layer("conv2", (256, 96, 5, 5), 1, 2, 3, ("relu", "pool")),
    Layer("conv3", (384, 256, 3, 3), 1, 1, 0, ("relu",)),
    Layer("conv4", (384, 384, 3, 3), 1, 1, 0, ("relu",)),
    Layer("conv5", (256, 384, 3, 3), 1, 1, 3, ("relu", "pool")),
    Layer("fc6", (4096, 9216), 0, 0, 0, ("relu",)),
    Layer("fc7", (4096, 4096), 0, 0, 0, ("relu",)),
    Layer("fc8", (1000, 4096), 0, 0, 0, ()),
)


VGG_A_LAYERS = (
    Layer("conv1_1", (64, 3, 3, 3), 1, 1, 2, ("relu", "pool")),
    Layer("conv2_1", (128, 64, 3, 3), 1, 1, 2, ("relu", "pool")),
    Layer("conv3_1", (256, 128, 3, 3), 1, 1, 0, ("relu",)),
    Layer("conv3_2", (256, 256, 3, 3), 1, 1, 2, ("relu", "pool")),
    Layer("conv4_1", (512, 256, 3, 3), 1, 1, 0, ("relu",)),
    Layer("conv4_2", (512, 512, 3, 3), 1, 1, 2, ("relu", "pool")),
    Layer("conv5_1", (512, 512, 3, 3), 1, 1, 0, ("relu",)),
    Layer("conv5_2", (512, 512, 3, 3), 1, 1, 2, ("relu", "pool")),
    Layer("fc6", (4096, 25088), 0, 0, 0, ("relu",)),
    Layer("fc7", (4096, 4096), 0, 0, 0, ("relu",)),
    Layer("fc8", (1000, 4096), 0, 0, 0, ()),
)


def options(doc, model, layout="nchw", modes=MODES):
    """The options that every sample has; one may add its own. `layout` is the framework's own choice."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--batch", type=positive, default=model.batch, help=f"samples per step (default {model.batch})")
    add("--steps", type=positive, default=model.steps, help=f"steps (default {model.steps})")
    add("--discard", type=int, help="first steps that the mean leaves out (default: 1, of one step none)")
    add("--mode", choices=MODES, default=modes[-1], help=f"what a step computes (default {modes[-1]})")
    add("--device", choices=("cpu", "cuda"), help="default: cuda where there is one that the framework can use")
    add("--layout", choices=("nchw", "nhwc"), default=layout, help=f"order of images in memory (default {layout})")
    add("--threads", type=positive, help="CPU threads (default: the framework's own choice)")
    return parser


def positive(text):
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return number


def refuse(sentence):
    """End the program: what was asked for cannot be."""
    print(sentence, file=sys.stderr)
    sys.exit(2)


def forward_alone(name, args):
    """Refuse what is not inference on images, channels first."""
    if args.mode != "forward":
        refuse(f"{name} computes the forward pass alone")
    if args.layout != "nchw":
        refuse(f"{name} takes images in nchw alone")


def early(name):
    """Return an option's value, for libraries that read it when they are loaded, before the options can be parsed."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(name, dest="value")
    return parser.parse_known_args()[0].value


def limit_threads():
    """OpenMP and BLAS get as many threads as `--threads` says; to be called before what reads this is imported."""
    count = early("--threads")
    if count:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, count))


def theano_flags():
    """Limit the threads of Theano, which has OpenMP in its own code only where it is told so."""
    limit_threads()
    flags = f"floatX=float32,device=cpu,openmp={int(early('--threads') or 1) > 1}"
    os.environ["THEANO_FLAGS"] = ",".join(filter(None, [flags, os.environ.get("THEANO_FLAGS")]))


def use_cores(count):
    """Let this process run on no more than `count` cores, for a framework that takes its threads from them."""
    mine = sorted(os.sched_getaffinity(0))
    if count > len(mine):
        refuse(f"this framework has one thread for each core, and there are {len(mine)}")
    os.sched_setaffinity(0, mine[:count])


def cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def openmp_threads(count=None):
    """Threads of the OpenMP library that the framework has loaded, after setting them; None if it has none."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return None
    names = ("libgomp", "libiomp", "libomp")
    paths = {line.split()[-1] for line in maps.splitlines() if "omp" in line}
    libraries = [ctypes.CDLL(path) for path in paths if Path(path).name.startswith(names)]
    for library in libraries if count else ():
        library.omp_set_num_threads(count)
    return max((library.omp_get_max_threads() for library in libraries), default=None)


def batch_of(model, batch, layout="nchw", longest=None):
    """One random batch as arrays of NumPy: inputs, and last the labels; the same one in every framework."""
    import numpy as np

    random = np.random.RandomState(0)
    labels = random.randint(0, model.classes, batch).astype("int32")
    if model.name == "lstm":
        longest = longest or model.shape[0]
        lengths = np.linspace(longest, min(SHORTEST, longest), batch).astype("int32")[::-1].copy()
        return random.randint(0, WORDS, (batch, longest)).astype("int32"), lengths, labels
    return random.standard_normal((batch, *shape_of(model, layout))).astype("float32"), labels


def shape_of(model, layout):
    """The shape of one input."""
    return model.shape if len(model.shape) < 3 or layout == "nchw" else model.shape[1:] + model.shape[:1]


def measure(model, args, step, probe, **facts):
    """Time `step()`, which returns a number that is there when the step is finished; print each and what comes of all.

    `probe()` returns a parameter, to see whether steps changed it; facts: framework, version, device, threads,
    parameters, and what else is to be told.
    """
    discard = min(1, args.steps - 1) if args.discard is None else args.discard
    if not 0 <= discard < args.steps:
        refuse(f"--discard {discard} leaves none of {args.steps} steps")
    count = facts["parameters"]
    assert count == model.parameters, count
    layout = args.layout if len(model.shape) == 3 else None
    order = f", {layout}" if layout else ""
    print(f"{model.name}: {count} parameters, batch {args.batch}, {facts['device']}{order}", flush=True)
    what = "output" if args.mode == "forward" else "loss"
    before, times, value = probe(), [], None
    for number in range(1, args.steps + 1):
        start = time.perf_counter()
        value = float(step())
        times.append(1e3 * (time.perf_counter() - start))
        if number % max(1, args.steps // 4) == 0 or number == args.steps:
            print(f"step {number}: {what} {value:.4f}, {times[-1]:.2f} ms", flush=True)
    kept = times[discard:]
    result = dict(facts, model=model.name, mode=args.mode, batch=args.batch, layout=layout)
    result["optimizer"] = optimizer(model) if args.mode == "train" else None
    result["loss"] = None if args.mode == "forward" else value
    result["updated"] = bool(probe() != before)
    result.update(steps=args.steps, discarded=discard, mean_ms=statistics.mean(kept))
    result["sd_ms"] = statistics.stdev(kept) if len(kept) > 1 else None
    result["step_ms"] = kept
    sd = "" if len(kept) == 1 else f", sd {result['sd_ms']:.2f}"
    print(f"mean of {len(kept)} steps after the first {discard}: {result['mean_ms']:.2f} ms{sd}")
    print(json.dumps(result), flush=True)


def optimizer(model):
    """Its name and numbers."""
    return f"SGD, rate {RATE:g}" + (f", momentum {model.momentum:g}" if model.momentum else "")
