-- title = "Many small products of one shape"
-- doc = """Short matrix products of the same sizes and type that one module runs one after the other, as for one expert
-- or head after the other (two kinds may take turns), and that take more than twice the least that the device allows.
-- Several experts of a list `experts` are one module here; other modules in a row, and those of one expert, are
-- taken for layers, which need each other's results. The bound is their time, less what overlaps earlier work on the
-- device, less that of one batched or grouped product: the FLOP of all at the peak of their type, or the bytes of all
-- at the memory's bandwidth, whichever is more."""
-- why = """A small product fills only a part of the device, and each costs a launch. Batched or grouped, all of them
-- run side by side."""
-- cost = "Memory to stack what is multiplied; parts of unequal size have to be padded, or need a grouped product."
-- unless = "Each product needs the result of the one before (a recurrent network, a solver)."
-- needs = ["operator_sizes", "linked_work"]
-- sees = "products"
-- [fix]
-- pytorch = """stack the weights and use torch.bmm or torch.einsum once (for experts of unequal size
-- torch.nn.functional.grouped_mm, or torch.nested), or torch.func.vmap over the loop"""
-- jax = "jax.vmap over the loop, or jax.lax.ragged_dot"
-- any = "one batched or grouped product in place of a loop"
-- [params]
-- same_products = { type = "DOUBLE", default = 8, doc = "found from this many in one pass of a module" }
-- small_us = { type = "DOUBLE", default = 20, doc = "found below this mean time of one of them, in microseconds" }
-- small_part = { type = "DOUBLE", default = 0.5, doc = "found below this part of their time that the device allows" }
-- products_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH recurrent AS (
    -- Each of their products needs the result of the one before.
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE name IN ('aten::lstm', 'aten::gru', 'aten::rnn_tanh', 'aten::rnn_relu', 'aten::lstm_cell', 'aten::gru_cell',
        'aten::rnn_tanh_cell', 'aten::rnn_relu_cell')
), inside AS (
    -- An ASOF join sorts its left side, however little is on the right.
    SELECT f.op_id FROM (FROM op_floors WHERE family = 'gemm') f
    ASOF JOIN recurrent r ON r.rank = f.rank AND r.pid IS NOT DISTINCT FROM f.pid
        AND r.tid IS NOT DISTINCT FROM f.tid AND f.start_ns >= r.start_ns
    WHERE f.start_ns < r.end_ns
), product AS (
    SELECT nullif(regexp_extract(f.module, '^(?:.*[./])?experts[./][^./]+'), '') AS expert,
        regexp_replace(expert, '[./][^./]+$', '') AS experts, f.rank, f.pid, f.tid, f.start_ns,
        coalesce(experts, f.module) AS module, f.direction, f.dtype, f.op_name,
        f.own_ns, f.floor_ns, f.per, f.step_ns, p.m, p.n, p.k, p.batch,
        -- Products of an expert have several sizes: all of its list are one kind.
        concat_ws(' ', f.step, coalesce(experts, f.module), f.direction,
            if(experts IS NULL, concat_ws(' ', f.op_name, f.dtype, p.batch, p.m, p.n, p.k), '')) AS kind
    FROM op_floors f JOIN matmul_shapes p ON p.op_id = f.op_id
    WHERE f.family = 'gemm' AND f.op_id NOT IN (SELECT op_id FROM unfused_attention)
        AND f.op_id NOT IN (FROM inside)
), led AS (
    -- Of two kinds that take turns each comes again after the other.
    SELECT *, coalesce(kind IN (lag(kind) OVER line, lag(kind, 2) OVER line), false) AS is_again
    FROM product WINDOW line AS (PARTITION BY rank, pid, tid ORDER BY start_ns)
), run AS (
    SELECT *, count(nullif(is_again, true)) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns
        ROWS UNBOUNDED PRECEDING) AS run
    FROM led
), same AS (
    SELECT rank, module, direction, dtype, op_name, batch, m, n, k, sum(own_ns) AS own_ns,
        sum(floor_ns) AS floor_ns, count(*) AS n_calls, any_value(per) AS per, any_value(step_ns) AS step_ns
    FROM run GROUP BY rank, pid, tid, run, module, direction, dtype, op_name, batch, m, n, k
    HAVING count(*) >= $same_products AND count(DISTINCT expert) <> 1 AND sum(floor_ns) < $small_part * sum(own_ns)
        AND sum(own_ns) * any_value(per) < 1000 * $small_us * count(*)
), kinds AS (
    SELECT rank, alike(coalesce(module, '(no module)')) AS place, direction, dtype, op_name, batch, m, n, k,
        count(DISTINCT module) AS n_modules, sum(n_calls / per) AS calls, sum(own_ns) AS own_ns,
        sum(own_ns - floor_ns) AS lost_ns, any_value(step_ns) AS step_ns
    FROM same GROUP BY ALL
)
SELECT rank,
    format('{:.1f} products of few sizes take {:.3f} ms one after the other; as batches they have to take {:.3f} ms.',
        sum(calls), sum(own_ns) / 1e6, sum(own_ns - lost_ns) / 1e6) AS problem,
    format('Mostly in {}{}', if(arg_max(n_modules, lost_ns) > 1, arg_max(n_modules, lost_ns) || ' modules ', ''),
        arg_max(place, lost_ns)) AS place,
    sum(lost_ns) AS saving_ns,
    'low: sizes and order are recorded; whether one needs the result of another, as in a recurrent network, is not'
        AS confidence,
    list(format('{}{}: {}{} {} x {} by {} x {}{}, {}: {:.1f} times, {:.3f} ms, together at least {:.3f} ms', place,
        if(n_modules > 1, format(' ({} modules)', n_modules), ''), op_name,
        if(batch > 1, format(' {} x', batch), ''), m, k, k,
        n, if(direction = 'backward', ' backward', ''), dtype, calls, own_ns / 1e6, (own_ns - lost_ns) / 1e6)
        ORDER BY lost_ns DESC, place, m, n, k, direction)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $products_step_pct * any_value(step_ns)
ORDER BY rank
