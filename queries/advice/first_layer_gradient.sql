-- title = "Gradient of the input"
-- doc = "The input gradient (dgrad) of the convolution that runs first in a step and reads few channels, so an image and not the output of another layer; or, where no shapes are recorded, the input gradient after which in every step that is no warm-up a copy of the size of the largest upload goes to the host. The bound is the time of everything in that call that computes it, and of that copy, as far as nothing earlier on the device covers it."
-- why = "The first layer's input is data, so nobody uses its gradient, and with its large spatial size it is among the dearest."
-- cost = "Nothing."
-- unless = "The gradient of the input is wanted (adversarial examples, style transfer, saliency), or trained layers come before."
-- needs = ["conv_gradients", "conv_shapes_or_copies"]
-- [fix]
-- pytorch = "an input with requires_grad=False (the default; look for input.requires_grad_() or checkpointing that sets it), and no .cpu() of its .grad"
-- tensorflow = "tape.gradient(loss, model.trainable_variables) without tape.watch(input); in TensorFlow 1 tf.gradients(loss, tf.trainable_variables()), not of the input"
-- jax = "argnums of jax.grad without the input"
-- mxnet = "no attach_grad() on the data; Module.bind(inputs_need_grad=False)"
-- keras = "no GradientTape.watch on the input"
-- any = "do not ask for the gradient of the data (Caffe: no force_backward; Torch7: features:get(1).gradInput = nil)"
-- [params]
-- first_channels = { type = "BIGINT", default = 4, doc = "an input of at most this many channels is an image" }
-- input_from_bytes = { type = "BIGINT", default = 65536, doc = "an upload of at least this size may be the input" }
-- [columns]
-- rank = "process of the job"
-- problem = "what was found"
-- place = "the layer, where known"
-- saving_ns = "at most, per step"
-- confidence = "how sure, and why"
-- evidence = "what computes the gradient, and the copies of it"
WITH every AS MATERIALIZED (
    SELECT * FROM counted_conv_calls
), first AS (
    SELECT rank, layer, input_shape, filter_shape FROM every
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY start_ns, op_id) = 1
), by_shape AS (
    -- The same tensors as the first convolution has: no other layer reads an image of that size through that filter.
    SELECT e.rank, e.op_id AS call_id, e.layer, f.input_shape FROM every e JOIN first f ON f.rank = e.rank
    WHERE e.direction = 'dgrad' AND NOT coalesce(e.transposed, false) AND e.input_shape = f.input_shape
        AND e.filter_shape = f.filter_shape AND f.input_shape[2] <= $first_channels
), copy AS (
    SELECT c.id, c.rank, c.step, c.start_ns, m.direction, m.size_bytes, c.n_steps
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy' AND m.direction IN ('HtoD', 'DtoH') AND m.size_bytes >= $input_from_bytes AND c.step IS NOT NULL
), input AS (
    SELECT rank, max(size_bytes) AS size_bytes FROM copy WHERE direction = 'HtoD' GROUP BY rank
), sent AS (
    SELECT o.* FROM copy o JOIN input i ON i.rank = o.rank AND i.size_bytes = o.size_bytes WHERE o.direction = 'DtoH'
    QUALIFY n_steps > 1 AND count(*) OVER (PARTITION BY o.rank) = n_steps
        AND count(DISTINCT o.step) OVER (PARTITION BY o.rank) = n_steps
), by_copy AS (
    SELECT s.rank, s.id, any_value(s.size_bytes) AS size_bytes, arg_max(v.op_id, v.end_ns) AS call_id
    FROM sent s JOIN every v ON v.rank = s.rank AND v.step = s.step AND v.direction = 'dgrad' AND v.end_ns <= s.start_ns
    GROUP BY s.rank, s.id
), lost AS (
    SELECT c.rank, c.name, c.alone_ns / c.per AS own_ns, 1.0 / c.per AS calls
    FROM counted c WHERE c.direction = 'dgrad' AND c.call_id IN (SELECT call_id FROM by_shape UNION SELECT call_id FROM by_copy)
    UNION ALL
    SELECT c.rank, 'DtoH copy of ' || b.size_bytes || ' bytes', c.alone_ns / c.per, 1.0 / c.per
    FROM counted c JOIN by_copy b ON b.id = c.id
), kinds AS (
    SELECT rank, name, sum(calls) AS calls, sum(own_ns) AS own_ns FROM lost GROUP BY rank, name
), seen AS (
    SELECT k.rank, any_value(s.layer) AS layer, any_value(s.input_shape) AS input_shape, max(b.size_bytes) AS size_bytes
    FROM (SELECT DISTINCT rank FROM kinds) k LEFT JOIN by_shape s USING (rank) LEFT JOIN by_copy b USING (rank) GROUP BY k.rank
)
SELECT rank,
    concat_ws(' ', format('The first convolution computes the gradient of its input of {}.',
            array_to_string(any_value(s.input_shape), ' x ')),
        format('Every step sends {:.2f} MB to the host, as much as its input, right after gradients of convolutions.',
            any_value(s.size_bytes) / 1e6)) AS problem,
    'Layer ' || any_value(s.layer) AS place, sum(own_ns) AS saving_ns,
    coalesce('high if nothing before this layer is trained: ' || any_value(s.input_shape)[2]
        || ' input channels say that it reads data', 'medium: size and order agree; what the copy holds is not recorded')
        AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', name, calls, own_ns / 1e6) ORDER BY own_ns DESC, name) AS evidence
FROM kinds k JOIN seen s USING (rank)
GROUP BY rank
ORDER BY rank
