-- doc = """Work of the steps that count on the gradient of the network's input: the dgrad rows of the convolution that
-- runs first in a step, where shapes, its layer or the link to its forward call tell it; else those after which in
-- every step that is not warm-up a copy of the size of the largest upload goes to the host, with that copy."""
-- [columns]
-- rank = "process of the job"
-- id = "the activity"
-- layer = "layer of the gradient, where known"
-- input_shape = "shape of the input, where shapes tell"
-- channels = "channels of that input"
-- size_bytes = "bytes of the largest upload, where a copy tells"
-- is_data = """whether that input is data for all that is known: an image that no trained layer made (none before it
-- computes a gradient from as many values), or the size of an upload"""
WITH every AS MATERIALIZED (
    SELECT * FROM counted_conv_calls
), first AS (
    SELECT rank, layer, input_shape, filter_shape, transposed FROM every
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY start_ns, op_id) = 1
), opening AS (
    SELECT rank, op_id, layer, input_shape FROM every WHERE direction = 'fprop'
    QUALIFY row_number() OVER (PARTITION BY rank, step ORDER BY start_ns, op_id) = 1
), by_shape AS (
    -- The same tensors as the first convolution has: no other layer reads an image of that size through that filter.
    SELECT e.op_id AS call_id, e.layer, f.input_shape FROM every e JOIN first f ON f.rank = e.rank
    WHERE e.direction = 'dgrad' AND e.transposed IS NOT DISTINCT FROM f.transposed AND e.input_shape = f.input_shape
        AND e.filter_shape = f.filter_shape
        -- A call later in a step may read what trained layers made: a GAN's discriminator, in the generator's turn.
        AND (e.forward_call IS NULL OR e.forward_call IN (SELECT op_id FROM opening))
), by_call AS (
    -- Without shapes: the gradient of the call, or of the recorded layer, with which a step begins.
    SELECT e.op_id AS call_id, e.layer FROM every e SEMI JOIN opening o
        ON o.rank = e.rank AND o.input_shape IS NULL
        AND coalesce(e.forward_call = o.op_id,
            e.layer = o.layer AND o.layer <> '(no layer)' AND o.layer NOT LIKE '%(guessed)')
    WHERE e.direction = 'dgrad'
), copy AS (
    SELECT c.id, c.rank, c.step, c.start_ns, m.direction, m.size_bytes, c.n_steps
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy' AND m.direction IN ('HtoD', 'DtoH') AND c.step IS NOT NULL
), input AS (
    SELECT rank, max(size_bytes) AS size_bytes FROM copy WHERE direction = 'HtoD' GROUP BY rank
), sent AS (
    SELECT o.* FROM copy o JOIN input i ON i.rank = o.rank AND i.size_bytes = o.size_bytes WHERE o.direction = 'DtoH'
    QUALIFY n_steps > 1 AND count(*) OVER (PARTITION BY o.rank) = n_steps
        AND count(DISTINCT o.step) OVER (PARTITION BY o.rank) = n_steps
), by_copy AS (
    SELECT s.id, any_value(s.rank) AS rank, any_value(s.size_bytes) AS size_bytes, arg_max(v.op_id, v.end_ns) AS call_id
    FROM sent s JOIN every v ON v.rank = s.rank AND v.step = s.step AND v.direction = 'dgrad' AND v.end_ns <= s.start_ns
    GROUP BY s.id
), told AS (
    SELECT call_id, any_value(layer) AS layer, any_value(input_shape) AS input_shape, max(size_bytes) AS size_bytes
    FROM (SELECT call_id, layer, input_shape, NULL AS size_bytes FROM by_shape
        UNION ALL SELECT call_id, layer, NULL, NULL FROM by_call
        UNION ALL SELECT call_id, NULL, NULL, size_bytes FROM by_copy WHERE size_bytes >= 65536)
    WHERE call_id IS NOT NULL GROUP BY call_id
), needed AS (
    -- Of what ran before the forward call, a gradient from as many values, or of unknown sizes, is computed afterwards.
    SELECT DISTINCT e.rank FROM told t JOIN every e ON e.op_id = t.call_id
    JOIN raw.ops own ON own.id = e.op_id JOIN raw.ops opened ON opened.id = e.forward_call
    JOIN raw.ops o ON o.rank = e.rank AND o.step IS NOT DISTINCT FROM own.step AND o.start_ns > own.start_ns
    JOIN raw.ops f ON f.id = o.forward_id AND f.start_ns < opened.start_ns
    WHERE o.id IN (SELECT op_id FROM counted) AND coalesce(list_bool_or(list_transform(TRY_CAST(o.shapes AS BIGINT[][]),
        lambda s: list_product(s) = list_product(t.input_shape))), true)
)
-- An input of at most 4 channels is an image, and not the output of another layer; an upload of at least 64 KB a batch.
-- On a CPU an operator is several rows of one id, one for each piece of its own time.
SELECT DISTINCT a.rank, a.id, t.layer, t.input_shape, t.input_shape[2] AS channels, t.size_bytes,
    coalesce(t.input_shape[2] <= 4 AND a.rank NOT IN (FROM needed), false) OR t.size_bytes IS NOT NULL AS is_data
FROM counted a JOIN told t ON t.call_id = a.call_id
WHERE a.direction = 'dgrad'
    -- What its operator copies from or to the host meanwhile is not part of it.
    AND a.category NOT IN ('memcpy_htod', 'memcpy_dtoh')
UNION ALL
SELECT rank, id, NULL, NULL, NULL, size_bytes, true FROM by_copy WHERE size_bytes >= 65536
