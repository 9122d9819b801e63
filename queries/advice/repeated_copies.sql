-- title = "Tensors copied to the host and back in every step"
-- doc = """Copies of one size that go from the device and later to the device in every step after warm-up. Of each size
-- only as many count as go both ways, first from the device; the size of the largest upload, which is the input, does
-- not count. What comes back in the next step is not told from labels that have the size of predictions. The bound is
-- their time, less what overlaps work that started earlier on the device."""
-- why = """Tensors of the same size are copied to the host and back in every step: part of the model or the optimizer
-- runs on the host, or a buffer that could stay on the device is copied again."""
-- cost = "Device memory for the tensors that stay there."
-- unless = "It was moved to the host on purpose, to save device memory (offloading)."
-- needs = ["copy_sizes", "several_steps"]
-- removes = "repeated_copies"
-- [fix]
-- pytorch = """model.to(device) before the optimizer is made, register_buffer for constants, no .cpu() or .numpy() in
-- forward"""
-- tensorflow = """place variables and the operators that use them on the GPU:
-- tf.debugging.set_log_device_placement(True) shows which are not"""
-- jax = "keep parameters as device arrays between steps (donate_argnums), no np.asarray of them"
-- mxnet = "initialize(ctx=mx.gpu()), and a KVStore on the device: kvstore='device'"
-- keras = "no Lambda or py_function layers on the host"
-- any = "keep the tensor on the device between steps"
-- [params]
-- repeated_from_bytes = { type = "BIGINT", default = 4096, doc = "only copies of at least this size" }
WITH copy AS (
    SELECT c.rank, c.step, m.direction, m.size_bytes, m.op_name, c.mean_ns / c.per AS own_ns, c.n_steps,
        if(m.direction = 'HtoD', m.start_ns, m.end_ns) AS at_ns
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy' AND m.direction IN ('HtoD', 'DtoH') AND m.size_bytes >= $repeated_from_bytes
        AND c.step IS NOT NULL
), input AS (
    -- A gradient of the input has its size too: that is another problem (first_layer_gradient).
    SELECT rank, max(size_bytes) AS size_bytes FROM copy WHERE direction = 'HtoD' GROUP BY rank
), paired AS (
    SELECT *, sum(if(direction = 'HtoD', 1, -1)) OVER (
        PARTITION BY rank, size_bytes, step ORDER BY at_ns, direction) AS ahead
    FROM copy WHERE (rank, size_bytes) NOT IN (SELECT (rank, size_bytes) FROM input)
), way AS (
    -- Uploads that are ahead of the downloads bring back none of these.
    SELECT rank, size_bytes, any_value(n_steps) AS n_steps, count(*) FILTER (direction = 'HtoD') AS up,
        count(*) FILTER (direction = 'DtoH') AS down, up - greatest(max(ahead), 0) AS pairs,
        sum(own_ns) FILTER (direction = 'HtoD') / up AS up_ns,
        sum(own_ns) FILTER (direction = 'DtoH') / down AS down_ns,
        arg_max(op_name, own_ns) FILTER (direction = 'HtoD') AS op_name
    FROM paired GROUP BY rank, size_bytes, step HAVING pairs > 0
), trip AS (
    SELECT rank, size_bytes, sum(pairs) / any_value(n_steps) AS calls, sum(pairs * (up_ns + down_ns)) AS own_ns,
        arg_max(op_name, up_ns) AS op_name
    FROM way GROUP BY rank, size_bytes HAVING count(*) = any_value(n_steps) AND count(*) > 1
)
SELECT rank,
    format('{:.1f} copies, {:.2f} MB, leave the device and as many of the same sizes come back.',
        sum(calls), sum(calls * size_bytes) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(coalesce(op_name, '(no operator)'), own_ns), '(no operator)') AS place,
    sum(own_ns) AS saving_ns,
    'medium: sizes, steps and order agree; that it is the same tensor is not recorded' AS confidence,
    list(format('{} bytes: {:.1f} each way, {:.3f} ms', size_bytes, calls, own_ns / 1e6)
        ORDER BY own_ns DESC, size_bytes) AS evidence
FROM trip
GROUP BY rank
ORDER BY rank
