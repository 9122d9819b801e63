-- title = "Compiled kernels far from the memory's bandwidth"
-- doc = """Kernels that Inductor (torch.compile) made in Triton, pointwise ones and reductions, which the memory
-- bounds, and that take more than twice as long as moving each of their arguments once. The bound is their time beyond
-- that, less what overlaps work that started earlier on the device. Kernels of a few microseconds are left out, and so
-- are those whose names say that they read in part or again, sort, add where others add, draw random numbers, compute
-- special functions, or are of double precision: the memory does not bound them."""
-- why = """Inductor takes the sizes of blocks and the number of warps by rule of thumb; strided or transposed
-- arguments, and reductions over few rows, want others."""
-- cost = "Compiling takes longer, since configurations are timed; the choice is kept in Inductor's cache."
-- unless = "The arguments are read in part, or several times, as by a gather or a convolution."
-- needs = ["compiled_kernels"]
-- sees = "graphs"
-- removes = "slow_compiled_kernels"
-- [fix]
-- pytorch = """TORCHINDUCTOR_COORDINATE_DESCENT_TUNING=1 and TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE=1, or
-- torch.compile(mode='max-autotune'); .contiguous() where an argument is transposed; a library's kernel for that one
-- operator (norms, SiLU and product)"""
-- any = "other sizes of blocks for these kernels"
-- [params]
-- compiled_times = { type = "DOUBLE", default = 2, doc = "found above this many times the least time" }
-- compiled_us = { type = "DOUBLE", default = 20, doc = "found above this mean time of a call, in microseconds" }
-- compiled_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH kinds AS (
    SELECT rank, op_name, coalesce(alike(module), '(no module)') AS place, bytes,
        max(memory_bytes_per_s) AS bytes_per_s, sum(1 / per) AS calls, sum(own_ns) AS own_ns, sum(floor_ns) AS least_ns,
        any_value(step_ns) AS step_ns, any_value(o.code_config) AS config
    FROM op_floors f LEFT JOIN (SELECT id, code_config FROM raw.ops) o ON o.id = f.op_id
    WHERE family = 'compiled' AND floor_ns > 0 AND regexp_matches(op_name, '^triton_(poi|red|per|for)_')
        AND NOT regexp_matches(op_name, 'index_put|scatter|gather|embedding|pool|upsample|grid_sampl|unfold|rand|sort'
            -- The gradient of a dropout draws none.
            || '|dropout_([^b]|b[^a])|bernoulli|normal_functional|exponential|lgamma|digamma|erfinv|igamma|special'
            || '|bessel')
        AND dtype IS DISTINCT FROM 'fp64'
        AND rank IN (SELECT rank FROM raw.kernels) GROUP BY ALL
    HAVING sum(own_ns) > $compiled_times * sum(floor_ns) AND sum(own_ns) > 1000 * $compiled_us * sum(1 / per)
)
SELECT rank,
    format('Kernels of torch.compile take {:.3f} ms; to move their arguments once takes {:.3f} ms.', sum(own_ns) / 1e6,
        sum(least_ns) / 1e6) AS problem,
    'Mostly ' || arg_max(op_name, own_ns - least_ns) AS place, sum(own_ns - least_ns) AS saving_ns,
    'medium: sizes and bandwidth are known; that each argument is read once and whole is assumed' AS confidence,
    list(format('{}{}: {:.1f} calls of {:.3f} ms, {:.2f} MB, {:.0f} of {:.0f} GB/s{}', op_name,
        if(place = '(no module)', '', ' in ' || place), calls, own_ns / calls / 1e6, bytes / 1e6,
        bytes * calls / own_ns, bytes_per_s / 1e9, coalesce(' (' || config || ')', ''))
        ORDER BY own_ns - least_ns DESC, op_name, place)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(own_ns - least_ns) > $compiled_step_pct * any_value(step_ns)
ORDER BY rank
