"""Code that the CNTK 2.7 samples share: a loop over minibatches; imported after `timing.limit_threads()`."""

import cntk as C  # noqa: N812
import numpy as np
import timing


def train(network, model, args, longest=None):
    """Train, or do what `--mode` says, with one random batch; `network(images)` makes scores."""
    if args.layout != "nchw":
        timing.refuse("CNTK has images in nchw alone")
    gpus = [each for each in C.device.all_devices() if each.type()]
    if args.device == "cuda" and not gpus:
        timing.refuse("this CNTK has no GPU")
    device = args.device or ("cuda" if gpus else "cpu")
    C.try_set_default_device(C.gpu(0) if device == "cuda" else C.cpu())
    *inputs, labels = timing.batch_of(model, args.batch, longest=longest)
    if model.name == "lstm":
        words, lengths = inputs
        # A list of sequences, each as long as it is: CNTK packs and masks them by itself.
        rows = [C.Value.one_hot([list(map(int, row[:n])) for row, n in zip(words, lengths)], timing.WORDS)]
        variables = [C.sequence.input_variable(timing.WORDS, is_sparse=True)]
    else:
        rows, variables = inputs, [C.input_variable(model.shape)]
    target = C.input_variable(model.classes)
    scores = network(*variables)
    loss = C.cross_entropy_with_softmax(scores, target)
    feed = dict(zip(variables, rows))
    batch = dict(feed)
    batch[target] = np.eye(model.classes, dtype=np.float32)[labels]
    rate = C.learning_parameter_schedule(timing.RATE)
    learner = C.sgd(scores.parameters, rate)
    if model.momentum:
        learner = C.momentum_sgd(scores.parameters, rate, C.momentum_schedule(model.momentum))
    trainer = C.Trainer(scores, (loss, None), [learner]) if args.mode == "train" else None
    mean = C.reduce_mean(loss, axis=C.Axis.all_axes()) if args.mode == "gradient" else None

    def forward():
        return scores.eval(feed).flat[0]

    def gradient():
        _, value = mean.grad(batch, wrt=mean.parameters, outputs=[mean.output], as_numpy=False)
        return next(iter(value.values())).asarray().flat[0] if isinstance(value, dict) else value.asarray().flat[0]

    def whole():
        trainer.train_minibatch(batch)
        return trainer.previous_minibatch_loss_average

    steps = {"forward": forward, "gradient": gradient, "train": whole}
    last = min(scores.parameters, key=lambda each: np.prod(each.shape))
    # A network of sequences has set the number of cores.
    threads = timing.openmp_threads(args.threads) or timing.cores()
    timing.measure(
        model, args, steps[args.mode], lambda: last.value.flat[0],
        framework="cntk", version=C.__version__, device=device, threads=threads,
        parameters=sum(int(np.prod(each.shape)) for each in scores.parameters),
    )  # fmt: skip
