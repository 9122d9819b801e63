-- doc = """Chains of operators that a single kernel could do: two or more calls in a row on a thread, of one pass,
-- with nothing else between them that the thread launches, that do arithmetic on each element, normalise, reduce or
-- convert a tensor of one size (up to a factor of two, so that halves that are put together again count), and smaller
-- ones between them; one normalisation at most, and none over a batch in training, nor anything behind a reduction of a
-- whole tensor to one number. Which tensor each uses is not recorded. Parts of unfused attention and of the optimizer's
-- step are left out."""
-- [columns]
-- chain_id = "first operator of the calls that it was looked for in"
-- op_id = "call that is part of it, as in op_floors"
-- place = "place in the chain"
-- elements = "of its largest tensor"
-- largest = "the same of the chain"
WITH sizes AS MATERIALIZED (
    -- There are few.
    SELECT shapes, types, list_max(list_transform(CAST(json_extract(shapes, '$[*]') AS VARCHAR[]), lambda x: coalesce(
            list_product(TRY_CAST(x AS BIGINT[])),
            list_sum(list_transform(TRY_CAST(x AS BIGINT[][]), lambda y: list_product(y))), 1))) AS elements,
        types->>'$[0]' AS first_type, types->>'$[1]' AS second_type, json_array_length(shapes) AS n
    FROM (SELECT DISTINCT shapes, types FROM raw.ops WHERE id IN (SELECT op_id FROM op_floors))
), sized AS (
    -- Only what is needed to find chains: with all columns this takes half as much memory again.
    SELECT f.rank, f.op_id, f.pid, f.tid, f.start_ns, f.step, f.direction, f.family, f.op_name, o.phase, z.elements,
        z.first_type, z.second_type,
        -- Without dimensions it goes over all of its tensor before anything can use the result.
        f.op_name IN ('aten::mean', 'aten::sum', 'aten::std', 'aten::var', 'aten::norm') AND z.n <= 2 AS is_total
    FROM op_floors f JOIN raw.ops o ON o.id = f.op_id
    JOIN sizes z ON z.shapes IS NOT DISTINCT FROM o.shapes AND z.types IS NOT DISTINCT FROM o.types
), costed AS (
    SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM op_floors)
), other AS (
    -- What else a thread has its device do: collectives, operators without a cost, kernels without an operator.
    SELECT DISTINCT w.rank, coalesce(o.pid, a.pid) AS pid, coalesce(o.tid, a.tid) AS tid,
        coalesce(a.start_ns, o.start_ns) AS start_ns, false AS is_fusible
    FROM (SELECT rank, op_id, launch_id FROM raw.kernels UNION ALL SELECT rank, op_id, launch_id FROM raw.memcpys) w
    LEFT JOIN raw.ops o ON o.id = w.op_id LEFT JOIN raw.api_calls a ON a.id = w.launch_id
    WHERE w.op_id IS NULL OR w.op_id NOT IN (FROM costed)
    UNION ALL
    -- On a CPU views are operators, too: those of libraries beside PyTorch's own.
    SELECT rank, pid, tid, start_ns, false FROM raw.ops
    WHERE rank IN (SELECT rank FROM recorded WHERE kernels = 0) AND id NOT IN (FROM costed)
        AND regexp_matches(name, '^\w+::') AND NOT regexp_matches(name, '^(aten|torch|autograd)::')
), marked AS (
    -- Names are told apart by numbers: they are sorted with the rows.
    SELECT rank, op_id, pid, tid, start_ns, step, direction, elements, is_total, hash(op_name) AS operator,
        family IN ('norm', 'softmax') AS is_norm,
        (family IN ('elementwise', 'dropout', 'norm', 'softmax', 'reduction') OR op_name = 'aten::cat'
            -- A conversion.
            OR op_name = 'aten::copy_' AND first_type <> second_type AND second_type <> 'Scalar')
        -- In training a batch norm has to see all of its tensor before it can write any: no kernel goes on behind it.
        AND NOT (contains(op_name, 'batch_norm')
            AND rank IN (SELECT rank FROM op_floors WHERE contains(op_name, 'batch_norm_backward')))
        AND phase IS DISTINCT FROM 'optimizer' AND op_id NOT IN (SELECT op_id FROM unfused_attention) AS is_fusible
    FROM sized
    UNION ALL BY NAME
    FROM other
), led AS (
    SELECT *, lag(is_fusible) OVER line AS follows, lag(elements) OVER line AS before, lag(direction) OVER line AS pass,
        lag(step) OVER line IS NOT DISTINCT FROM step AS is_same_step,
        coalesce(lag(is_total) OVER line, false) AS follows_total,
        max(elements) OVER (line ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING) AS around
    FROM marked
    WINDOW line AS (PARTITION BY rank, pid, tid ORDER BY start_ns)
), told AS (
    -- What is much smaller, as a mean is, goes with the tensor before it, and that goes on behind it.
    SELECT rank, op_id, pid, tid, start_ns, elements, operator, is_norm, is_fusible,
        NOT coalesce(is_fusible AND follows AND is_same_step AND pass IS NOT DISTINCT FROM direction
            AND NOT follows_total AND (elements <= 2 * before AND before <= 2 * elements OR elements < around / 8
                OR before < elements / 8 AND elements <= 2 * around AND around <= 2 * elements), false) AS begins
    FROM led
), begun AS (
    SELECT *, count(nullif(begins, false)) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns
        ROWS UNBOUNDED PRECEDING) AS run
    FROM told
), normed AS (
    SELECT *, greatest(count(nullif(is_norm, false)) OVER (PARTITION BY rank, pid, tid, run
        ORDER BY start_ns ROWS UNBOUNDED PRECEDING), 1) AS norms
    FROM begun WHERE is_fusible
), joined AS (
    SELECT *, max(elements) OVER run AS largest, min(op_id) OVER run AS chain_id FROM normed
    WINDOW run AS (PARTITION BY rank, pid, tid, run, norms)
), trimmed AS (
    SELECT *, min(start_ns) FILTER (2 * elements >= largest) OVER run AS first_ns,
        max(start_ns) FILTER (2 * elements >= largest) OVER run AS last_ns
    FROM joined WINDOW run AS (PARTITION BY chain_id)
), chain AS (
    SELECT *, row_number() OVER (run ORDER BY start_ns) AS place, count(*) OVER run AS n,
        min(operator) OVER run < max(operator) OVER run AS is_mixed
    FROM trimmed WHERE start_ns BETWEEN first_ns AND last_ns
    WINDOW run AS (PARTITION BY chain_id)
)
SELECT c.rank, c.chain_id, c.op_id, c.place, CAST(c.elements AS BIGINT) AS elements,
    CAST(c.largest AS BIGINT) AS largest, f.op_name, f.family, f.direction, f.dtype, f.module, f.own_ns,
    f.memory_bytes_per_s, f.per, f.step_ns
FROM (FROM chain WHERE n > 1 AND is_mixed) c JOIN op_floors f ON f.op_id = c.op_id
