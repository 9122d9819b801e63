"""Flax's first example of nnx: a small network, optax, metrics, and an evaluation every fourth step."""

from functools import partial

import numpy as np
import optax
import own_timer
from flax import nnx


class CNN(nnx.Module):
    """Two convolutions and two layers."""

    def __init__(self, *, rngs):
        self.conv1 = nnx.Conv(1, 8, kernel_size=(3, 3), rngs=rngs)
        self.batch_norm1 = nnx.BatchNorm(8, rngs=rngs)
        self.dropout1 = nnx.Dropout(rate=0.025)
        self.conv2 = nnx.Conv(8, 16, kernel_size=(3, 3), rngs=rngs)
        self.avg_pool = partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
        self.linear1 = nnx.Linear(784, 32, rngs=rngs)
        self.linear2 = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x, rngs=None):
        x = self.avg_pool(nnx.relu(self.batch_norm1(self.dropout1(self.conv1(x), rngs=rngs))))
        x = self.avg_pool(nnx.relu(self.conv2(x)))
        return self.linear2(nnx.relu(self.linear1(x.reshape(x.shape[0], -1))))


def loss_fn(model, rngs, batch):
    """The loss, and what it was computed from."""
    logits = model(batch["image"], rngs)
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean(), logits


@nnx.jit
def train_step(model, optimizer, metrics, rngs, batch):
    """A step."""
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, rngs, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, rngs, batch):
    """An evaluation."""
    loss, logits = loss_fn(model, rngs, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])


def batch():
    """Random images."""
    return {"image": draw.random((8, 28, 28, 1), "float32"), "label": draw.integers(0, 10, 8)}


draw = np.random.default_rng(0)
rngs = nnx.Rngs(0)
model = CNN(rngs=rngs)
optimizer = nnx.Optimizer(model, optax.adamw(0.005, 0.9), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
for step in range(12):
    model.train()
    own_timer.timed(train_step, model, optimizer, metrics, rngs, batch())
    if step > 0 and step % 4 == 0:
        metrics.compute()
        metrics.reset()
        model.eval()
        for _ in range(8):
            eval_step(model, metrics, rngs, batch())
        metrics.compute()
        metrics.reset()
own_timer.say(12)
