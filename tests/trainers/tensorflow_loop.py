"""A loop as in Keras' guide on writing one from scratch: a `tf.function` to train and one to test, metrics, epochs."""

import keras
import numpy as np
import own_timer
import tensorflow as tf

inputs = keras.Input((784,))
hidden = keras.layers.Dense(64, activation="relu")(keras.layers.Dense(64, activation="relu")(inputs))
model = keras.Model(inputs, keras.layers.Dense(10)(hidden))
optimizer = keras.optimizers.SGD(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
seen, tested = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.SparseCategoricalAccuracy()
samples = np.random.rand(32, 784).astype("float32"), np.random.randint(0, 10, 32)
data = tf.data.Dataset.from_tensor_slices(samples).shuffle(32).batch(8)


@tf.function
def train_step(x, y):
    """A step."""
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits) + sum(model.losses)
    optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
    seen.update_state(y, logits)
    return loss


@tf.function
def test_step(x, y):
    """A test."""
    tested.update_state(y, model(x, training=False))


for _ in range(3):
    for x, y in data:
        own_timer.timed(train_step, x, y)
    seen.reset_state()
    for x, y in data:
        test_step(x, y)
    tested.reset_state()
own_timer.say(len(own_timer.ends))
