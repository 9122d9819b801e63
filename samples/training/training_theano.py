"""Code that the Theano samples share: parameters by name, and a loop; imported after `timing.theano_flags()`."""

import numpy as np
import theano
import theano.tensor as tt
import timing
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.nnet import categorical_crossentropy, softmax

RANDOM = MRG_RandomStreams(1)


def variables(shapes):
    """Weights and biases by name: `LAYER.W` and `LAYER.b`; filters have outputs first, other weights last."""
    random = np.random.RandomState(0)
    found = {}
    for name, shape in shapes.items():
        size, inputs = (shape[0], np.prod(shape[1:])) if len(shape) == 4 else (shape[1], shape[0])
        weights = random.uniform(-1, 1, shape) / np.sqrt(inputs)
        for kind, value in (("W", weights), ("b", np.zeros(size))):
            found[f"{name}.{kind}"] = theano.shared(value.astype("float32"), name=f"{name}.{kind}")
    return found


def dense(x, var, name):
    """A fully connected layer."""
    return tt.dot(x, var[f"{name}.W"]) + var[f"{name}.b"]


def dropped(x, is_training):
    """Dropout of one half, where this is training."""
    return 2 * x * RANDOM.binomial(x.shape, p=0.5, dtype="float32") if is_training else x


def train(network, var, model, args, longest=None):
    """Train, or do what `--mode` says, with one random batch; `network(inputs..., var, is_training)` makes scores."""
    if args.layout != "nchw":
        timing.refuse("Theano has images in nchw alone")
    if args.device == "cuda":
        timing.refuse("Theano's GPU back-end needs libgpuarray, which is not part of this comparison")
    if len(model.shape) == 3 and theano.config.openmp and not theano.config.blas.ldflags:
        timing.refuse("Theano's convolutions crash on several threads with NumPy's BLAS: THEANO_FLAGS names no other")
    arrays = timing.batch_of(model, args.batch, longest=longest)
    symbols = [tt.TensorType(str(each.dtype), (False,) * each.ndim)() for each in arrays]
    *inputs, labels = symbols
    scores = network(*inputs, var, args.mode != "forward")
    loss = categorical_crossentropy(softmax(scores), labels).mean()
    parameters = list(var.values())
    if args.mode == "forward":
        step, arrays = theano.function(inputs, [scores], name="forward"), arrays[:-1]
    elif args.mode == "gradient":
        step = theano.function(symbols, [loss, *tt.grad(loss, parameters)], name="gradient")
    else:
        step = theano.function(symbols, [loss], updates=updates(loss, parameters, model.momentum), name="train")
    timing.measure(
        model, args, lambda: np.ravel(step(*arrays)[0])[0],
        lambda: parameters[-1].get_value(borrow=True).flat[0],
        framework="theano", version=theano.__version__, device="cpu",
        threads=(timing.openmp_threads() or 1) if theano.config.openmp else 1,
        parameters=sum(each.get_value(borrow=True).size for each in parameters),
    )  # fmt: skip


def updates(loss, parameters, momentum):
    """A step of SGD."""
    found = []
    for each, gradient in zip(parameters, tt.grad(loss, parameters)):
        change = -timing.RATE * gradient
        if momentum:
            velocity = theano.shared(0 * each.get_value(borrow=True), name=f"{each.name}.velocity")
            change = momentum * velocity + change
            found.append((velocity, change))
        found.append((each, each + change))
    return found
