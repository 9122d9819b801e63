-- title = "Gradient of the input"
-- doc = "The input gradient (dgrad) of the convolution that runs first in a step and reads few channels, so an image and not the output of another layer. The bound is the time of everything in that call that computes it and that nothing earlier on the device covers."
-- why = "The first layer's input is data, so nobody uses its gradient, and with its large spatial size it is among the dearest."
-- cost = "Nothing."
-- unless = "The gradient of the input is wanted (adversarial examples, style transfer, saliency), or trained layers come before."
-- needs = ["conv_shapes", "conv_gradients"]
-- [fix]
-- pytorch = "an input with requires_grad=False (the default; look for input.requires_grad_() or checkpointing that sets it)"
-- tensorflow = "tape.gradient(loss, model.trainable_variables) without tape.watch(input); in TensorFlow 1 tf.gradients(loss, variables)"
-- jax = "argnums of jax.grad without the input"
-- mxnet = "no attach_grad() on the data; Module.bind(inputs_need_grad=False)"
-- keras = "no GradientTape.watch on the input"
-- any = "do not ask for the gradient of the data (Caffe: no force_backward; Torch7: features:get(1).gradInput = nil)"
-- [params]
-- first_channels = { type = "BIGINT", default = 4, doc = "an input of at most this many channels is an image" }
-- [columns]
-- rank = "process of the job"
-- problem = "what was found"
-- place = "the layer"
-- saving_ns = "at most, per step"
-- confidence = "how sure, and why"
-- evidence = "the kernels or primitives of the gradient"
WITH every AS MATERIALIZED (
    SELECT * FROM counted_conv_calls
), first AS (
    SELECT rank, layer, input_shape, filter_shape FROM every
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY start_ns, op_id) = 1
), gradient AS (
    -- The same tensors as the first convolution has: no other layer reads an image of that size through that filter.
    SELECT e.op_id, e.rank, e.layer, f.input_shape, e.evidence FROM every e JOIN first f ON f.rank = e.rank
    WHERE e.direction = 'dgrad' AND NOT coalesce(e.transposed, false) AND e.input_shape = f.input_shape
        AND e.filter_shape = f.filter_shape AND f.input_shape[2] <= $first_channels
), own AS (
    SELECT g.rank, any_value(g.layer) AS layer, any_value(g.input_shape) AS input_shape, c.name,
        sum(c.alone_ns / c.per) AS own_ns, sum(1.0 / c.per) AS calls
    FROM gradient g JOIN counted c ON c.call_id = g.op_id AND c.direction = 'dgrad'
    GROUP BY g.rank, c.name
)
SELECT rank,
    format('The first convolution computes the gradient of its input of {}.', array_to_string(any_value(input_shape), ' x '))
        AS problem,
    'Layer ' || any_value(layer) AS place, sum(own_ns) AS saving_ns,
    'high if nothing before this layer is trained: ' || any_value(input_shape)[2] || ' input channels say that it reads data'
        AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', name, calls, own_ns / 1e6) ORDER BY own_ns DESC, name) AS evidence
FROM own
GROUP BY rank
ORDER BY rank
