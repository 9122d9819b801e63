-- title = "Gradient of the input, copied to the host"
-- doc = "A copy of the size of the largest upload that leaves the device in every step that is no warm-up, after gradients of convolutions: the gradient of the input. The bound is the time of those copies and of the input gradient that ran last before each, as far as nothing earlier on the device covers it."
-- why = "The input is data, so nobody uses its gradient; here it is computed and then even sent to the host."
-- cost = "Nothing."
-- unless = "The gradient of the input is wanted, or the network's output has the size of its input."
-- needs = ["copy_sizes", "several_steps", "conv_gradients"]
-- [fix]
-- pytorch = "an input with requires_grad=False, and no .cpu() of its .grad"
-- tensorflow = "gradients of the variables only: tf.gradients(loss, tf.trainable_variables()), not tf.gradients(loss, [input, ...]); tape.gradient without tape.watch(input)"
-- jax = "argnums of jax.grad without the input"
-- mxnet = "Module.bind(inputs_need_grad=False), no attach_grad() on the data"
-- any = "do not ask for the gradient of the data"
-- [params]
-- input_from_bytes = { type = "BIGINT", default = 65536, doc = "an upload of at least this size may be the input" }
-- [columns]
-- rank = "process of the job"
-- problem = "what was found"
-- place = "where"
-- saving_ns = "at most, per step"
-- confidence = "how sure, and why"
-- evidence = "the copies and the gradient"
WITH copy AS (
    SELECT c.id, c.rank, c.step, c.start_ns, m.direction, m.size_bytes, c.alone_ns / c.per AS own_ns, c.n_steps
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy' AND m.direction IN ('HtoD', 'DtoH') AND m.size_bytes >= $input_from_bytes AND c.step IS NOT NULL
), input AS (
    SELECT rank, max(size_bytes) AS size_bytes FROM copy WHERE direction = 'HtoD' GROUP BY rank
), sent AS (
    SELECT o.* FROM copy o JOIN input i ON i.rank = o.rank AND i.size_bytes = o.size_bytes WHERE o.direction = 'DtoH'
    QUALIFY n_steps > 1 AND count(*) OVER (PARTITION BY o.rank) = n_steps
        AND count(DISTINCT o.step) OVER (PARTITION BY o.rank) = n_steps
), gradient AS (
    SELECT s.id, arg_max(v.op_id, v.end_ns) AS call_id
    FROM sent s JOIN counted_conv_calls v ON v.rank = s.rank AND v.step = s.step AND v.direction = 'dgrad'
        AND v.end_ns <= s.start_ns
    GROUP BY s.id
), lost AS (
    SELECT s.rank, 'DtoH copy of ' || s.size_bytes || ' bytes' AS what, s.own_ns, s.size_bytes FROM sent s JOIN gradient USING (id)
    UNION ALL
    SELECT c.rank, c.name, c.alone_ns / c.per, NULL
    FROM gradient g JOIN counted c ON c.call_id = g.call_id AND c.direction = 'dgrad'
), kinds AS (
    SELECT rank, what, sum(own_ns) AS own_ns, any_value(size_bytes) AS size_bytes FROM lost GROUP BY rank, what
)
SELECT rank,
    format('Every step sends {:.2f} MB to the host, as much as its input, right after gradients of convolutions.',
        any_value(size_bytes) / 1e6) AS problem,
    NULL AS place, sum(own_ns) AS saving_ns,
    'medium: size and order agree; what the copy holds is not recorded' AS confidence,
    list(format('{}: {:.3f} ms', what, own_ns / 1e6) ORDER BY own_ns DESC, what) AS evidence
FROM kinds
GROUP BY rank
ORDER BY rank
