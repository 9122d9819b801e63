"""Keras' `fit` over a `tf.data` pipeline with validation and callbacks; KERAS_BACKEND says on what."""

import keras
import numpy as np
import own_timer
import tensorflow as tf


class Timer(keras.callbacks.Callback):
    """Notes when a batch began and had ended."""

    def on_train_batch_begin(self, batch, logs=None):
        own_timer.ends.append([own_timer.time.time_ns(), 0])

    def on_train_batch_end(self, batch, logs=None):
        own_timer.ends[-1][1] = own_timer.time.time_ns()


model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(4, 3, activation="relu", name="conv1"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.1),
        keras.layers.Flatten(),
        keras.layers.Dense(5, name="fc"),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss, metrics=["accuracy"])
data = np.random.rand(32, 12, 12, 1).astype("float32"), np.random.randint(0, 5, 32)
train = tf.data.Dataset.from_tensor_slices(data).shuffle(32).batch(8).prefetch(tf.data.AUTOTUNE)
callbacks = [Timer(), keras.callbacks.EarlyStopping(patience=5), keras.callbacks.ReduceLROnPlateau()]
model.fit(
    train, validation_data=tf.data.Dataset.from_tensor_slices(data).batch(16), epochs=3, verbose=2, callbacks=callbacks
)
own_timer.say(len(own_timer.ends))
