-- title = "Double precision"
-- doc = """Operators that compute with float64 tensors, without copies and casts of them. The bound is half of their
-- time: single precision moves half of the bytes, and twice as many numbers at once. Of convolutions, which libraries
-- do not take in double precision, and on a GPU, which may compute it 64 times as slowly, it is all of their time."""
-- why = """Arrays of numpy and literals of Python are float64, and one such tensor makes all that is computed with it
-- float64. Training rarely needs it; libraries for neural networks are made for less."""
-- cost = "Results differ in the eighth digit."
-- unless = "The program needs the digits: long sums, differences of nearly equal numbers, solvers."
-- needs = ["shapes", "linked_work"]
-- sees = "all"
-- [fix]
-- pytorch = """torch.from_numpy(array).float(), tensor.to(torch.float32), model.float(); no
-- torch.set_default_dtype(torch.float64) and no .double()"""
-- jax = "leave jax_enable_x64 off"
-- any = "convert the inputs and the model to float32 once, before the loop"
-- [params]
-- double_busy_pct = { type = "DOUBLE", default = 1, doc = """found above this share of the device's busy time, in
-- percent""" }
WITH double AS (
    -- A number without a shape is a scalar, such as the momentum of a batch norm, which older PyTorch calls double.
    -- One number in a tensor, as a metric is, takes as long in any precision.
    SELECT id FROM (
        SELECT id, unnest(TRY_CAST(types AS JSON[])) AS type, unnest(TRY_CAST(shapes AS JSON[])) AS shape
        FROM raw.ops WHERE contains(types, '"double"')
    )
    GROUP BY id HAVING bool_or(type = '"double"' AND json_array_length(shape) > 0)
        AND max(coalesce(list_product(TRY_CAST(CAST(shape AS VARCHAR) AS BIGINT[])), 2)) > 1
), spent AS (
    SELECT c.rank, c.op_name, c.mean_ns / c.per AS own_ns,
        if(c.category = 'conv' OR c.kind = 'kernel', 1, 0.5) AS share
    FROM counted c WHERE c.op_id IN (FROM double) AND c.category NOT IN ('cast', 'copy', 'bookkeeping')
), kinds AS (
    SELECT rank, op_name, count(*) AS n, sum(own_ns) AS double_ns, sum(own_ns * share) AS saved_ns FROM spent
    GROUP BY ALL
)
SELECT rank,
    format('Operators with float64 tensors take {:.3f} ms, {:.1f} % of the device''s busy time.', sum(double_ns) / 1e6,
        100.0 * sum(double_ns) / any_value(b.busy_ns)) AS problem,
    'Mostly under ' || arg_max(op_name, double_ns) AS place,
    sum(saved_ns) AS saving_ns,
    'medium: the types are recorded, but not how much faster single precision would be' AS confidence,
    list(format('{}: {:,} times, {:.3f} ms', op_name, n, double_ns / 1e6) ORDER BY double_ns DESC, op_name)[:20]
        AS evidence
FROM kinds JOIN device_busy b USING (rank)
GROUP BY rank
HAVING 100.0 * sum(double_ns) > $double_busy_pct * any_value(b.busy_ns)
ORDER BY rank
