"""The LSTM of Bahrampour et al. (2015) for reviews of different lengths: 1,411,842 parameters, 131,584 in the gates.

A scan over the time; a mask keeps the state of sequences that have ended. A plain JAX script: it does not know
traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import timing
from timing import WIDTH, WORDS
from training_jax import Parameters, dense, dropped, initial, train

Carry = tuple[jax.Array, jax.Array, jax.Array]


def weights() -> Parameters:
    """Return the weights of the layers, and of the embedding, which has no bias."""
    embedding = {"weight": jax.random.normal(jax.random.key(2), (WORDS, WIDTH))}
    return {"embedding": embedding, **initial({"gates": (2 * WIDTH, 4 * WIDTH), "classify": (WIDTH, 2)})}


def lstm(parameters: Parameters, words: jax.Array, lengths: jax.Array, key: jax.Array | None) -> jax.Array:
    """Words N x T and lengths N to scores N x 2."""
    with jax.named_scope("embedding"):
        x = parameters["embedding"]["weight"][words.T]
    mask = (jnp.arange(words.shape[1])[:, None] < lengths)[..., None].astype(x.dtype)

    def advance(carry: Carry, now: tuple[jax.Array, jax.Array]) -> tuple[Carry, None]:
        (state, cell, total), (x, is_on) = carry, now
        gates = dense(parameters, "gates", jnp.concatenate([x, state], 1))
        read, forget, write, new = jnp.split(gates, 4, 1)
        updated = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(read) * jnp.tanh(new)
        state = is_on * jax.nn.sigmoid(write) * jnp.tanh(updated) + (1 - is_on) * state
        return (state, is_on * updated + (1 - is_on) * cell, total + is_on * state), None

    zero = jnp.zeros((words.shape[0], WIDTH))
    (_, _, total), _ = jax.lax.scan(advance, (zero, zero, zero), (x, mask))
    return dense(parameters, "classify", dropped("dropout", total / lengths[:, None], key))


if __name__ == "__main__":
    model = timing.MODELS["lstm"]
    parser = timing.options(__doc__, model)
    parser.add_argument("--length", type=int, default=100, help="words of the longest sequence (default 100)")
    arguments = parser.parse_args()
    train(lstm, weights, model, arguments, arguments.length)
