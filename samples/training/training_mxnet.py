"""Code that the MXNet 1.x samples share: a loop over steps of Gluon; imported after `timing.limit_threads()`."""

import mxnet as mx
import timing
from mxnet import autograd, gluon


def train(net, model, args, longest=None):
    """Train, or do what `--mode` says, with one random batch; `net` is a hybrid block."""
    if args.device == "cuda" and not mx.context.num_gpus():
        timing.refuse("this MXNet has no GPU")
    device = args.device or ("cuda" if mx.context.num_gpus() else "cpu")
    context = mx.gpu() if device == "cuda" else mx.cpu()
    mx.random.seed(0)
    net.initialize(mx.init.Xavier(), ctx=context)
    net.hybridize()
    arrays = timing.batch_of(model, args.batch, args.layout, longest)
    *inputs, labels = (mx.nd.array(each, ctx=context, dtype="float32") for each in arrays)
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    parameters = net.collect_params()
    rule = {"learning_rate": timing.RATE}
    if model.momentum:
        rule["momentum"] = model.momentum
    trainer = gluon.Trainer(parameters, "sgd", rule) if args.mode == "train" else None
    last = list(parameters.values())[-1]

    def forward():
        scores = net(*inputs)
        mx.nd.waitall()
        return scores[0, 0].asscalar()

    def backward():
        with autograd.record():
            loss = criterion(net(*inputs), labels)
        loss.backward()
        if trainer is not None:
            trainer.step(args.batch)
        mx.nd.waitall()
        return loss.asnumpy().mean()

    timing.measure(
        model, args, forward if args.mode == "forward" else backward, lambda: last.data(context).asnumpy().flat[0],
        framework="mxnet", version=mx.__version__, device=device, threads=timing.openmp_threads() or timing.cores(),
        parameters=sum(each.data(context).size for each in parameters.values()),
    )  # fmt: skip


def along_images(args):
    """The layout, where MXNet has it."""
    if args.layout == "nhwc" and args.device != "cuda":
        timing.refuse("MXNet convolves on a CPU in nchw alone")
    return args.layout.upper()
