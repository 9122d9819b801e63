-- title = "Unneeded input gradient (dgrad) of the first convolution"
-- doc = """The input gradient (dgrad) of the convolution that runs first in a step and reads few channels, so an image
-- and not the output of another layer: of no operator before it whose gradient is computed afterwards, from as many
-- values; or, where no shapes are recorded, the input gradient that is followed, in every step after warm-up, by a copy
-- to the host of the same size as the largest upload. The bound is the time of everything in that call that computes
-- it, and of that copy, less what overlaps work that started earlier on the device."""
-- why = """The input of the first layer is data, so its gradient is not needed; because of its large spatial size it is
-- among the most expensive."""
-- cost = "None."
-- unless = """The gradient of the input is used (adversarial examples, style transfer, saliency), or trained layers
-- come before."""
-- needs = ["conv_gradients", "conv_shapes_or_copies"]
-- removes = "first_layer_gradient"
-- [fix]
-- pytorch = """an input with requires_grad=False (the default; look for input.requires_grad_() or checkpointing that
-- sets it), and no .cpu() of its .grad"""
-- tensorflow = """tape.gradient(loss, model.trainable_variables) without tape.watch(input); in TensorFlow 1
-- tf.gradients(loss, tf.trainable_variables()), not of the input"""
-- jax = "argnums of jax.grad without the input"
-- mxnet = "no attach_grad() on the data; Module.bind(inputs_need_grad=False)"
-- keras = "no GradientTape.watch on the input"
-- any = "do not ask for the gradient of the data (Caffe: no force_backward; Torch7: features:get(1).gradInput = nil)"
WITH lost AS (
    SELECT c.rank, if(c.kind = 'copy', 'DtoH copy of ' || g.size_bytes || ' bytes', c.name) AS name,
        c.rank_alone_ns / c.per AS own_ns,
        if(c.is_continued, 0, 1.0 / c.per) AS calls, g.layer, g.input_shape, g.size_bytes
    FROM counted c JOIN input_gradients g ON g.id = c.id AND g.is_data
), kinds AS (
    SELECT rank, name, sum(calls) AS calls, sum(own_ns) AS own_ns, any_value(layer) AS layer,
        any_value(input_shape) AS input_shape,
        any_value(size_bytes) AS size_bytes
    FROM lost GROUP BY rank, name
)
SELECT rank,
    concat_ws(' ', format('The first convolution computes the gradient of its input of {}.',
            array_to_string(any_value(input_shape), ' x ')),
        format('Every step sends {:.2f} MB to the host, as much as its input, right after gradients of convolutions.',
            any_value(size_bytes) / 1e6)) AS problem,
    'Layer ' || any_value(layer) AS place, sum(own_ns) AS saving_ns,
    coalesce('high if nothing before this layer is trained: ' || any_value(input_shape)[2]
        || ' input channels say that it reads data',
        'medium: size and order agree; what the copy holds is not recorded')
        AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', name, calls, own_ns / 1e6) ORDER BY own_ns DESC, name) AS evidence
FROM kinds
GROUP BY rank
ORDER BY rank
