"""Flax's linen with a `TrainState` and optax, and an evaluation every fourth step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import own_timer
from flax import linen as nn
from flax.training import train_state


class Block(nn.Module):
    """Two layers beside the input."""

    @nn.compact
    def __call__(self, x):
        hidden = nn.gelu(nn.Dense(128, name="up")(nn.LayerNorm()(x)))
        return x + nn.Dense(64, name="down")(hidden)


class Net(nn.Module):
    """Two blocks and a head."""

    @nn.compact
    def __call__(self, x):
        for number in range(2):
            x = Block(name=f"block{number}")(x)
        return nn.Dense(10, name="head")(x.mean(1))


@jax.jit
def train_step(state, x, y):
    """A step."""

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, x):
    """An evaluation."""
    return state.apply_fn({"params": state.params}, x).argmax(-1)


model = Net()
params = model.init(jax.random.key(0), jnp.ones((1, 16, 64)))["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
draw = np.random.default_rng(0)
for step in range(12):
    x, y = draw.random((8, 16, 64), "float32"), draw.integers(0, 10, 8)
    state, loss = own_timer.timed(train_step, state, x, y)
    if step % 4 == 3:
        eval_step(state, x)
own_timer.say(int(state.step))
