-- title = "Grids smaller than one wave"
-- doc = """Kernels with fewer blocks than the device has cores (multiprocessors, compute units), so that some cores
-- have nothing to do. The bound is their time, less what overlaps work that started earlier on the device, times the
-- share of idle cores. Communication kernels use few cores by design and are left out."""
-- why = """A core without a block is idle for the whole kernel; a larger batch, or several small kernels in parallel,
-- would use it."""
-- cost = "Memory for larger batches; a different batch size trains differently."
-- unless = "Kernels on other streams already use the idle cores, or the model is simply this small."
-- needs = ["kernels", "device_size"]
-- removes = "small_grids"
-- [fix]
-- pytorch = """a larger batch; torch.compile or foreach=True optimizers to merge small kernels; CUDA streams or
-- torch.func.vmap for independent parts"""
-- tensorflow = "a larger batch; tf.function(jit_compile=True)"
-- jax = "a larger batch; vmap over independent parts"
-- any = "a larger batch, or fewer and larger kernels"
-- [params]
-- grid_device_pct = { type = "DOUBLE", default = 15, doc = "found above this share of device time, in percent" }
WITH few AS (
    SELECT k.id, 1.0::DOUBLE * k.grid_x * k.grid_y * k.grid_z AS blocks, d.n_cores
    FROM raw.kernels k JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
    WHERE blocks < d.n_cores AND least(k.grid_x, k.grid_y, k.grid_z) > 0
), sized AS (
    -- Their texts are not joined: of 500 ranks these take 100 MB.
    SELECT c.*, f.blocks, f.n_cores
    FROM (SELECT rank, id, hash(name, op_name) AS text, mean_ns / per AS own_ns, 1.0 / per AS calls FROM counted
        WHERE kind = 'kernel' AND category <> 'communication') c JOIN few f ON f.id = c.id
), kinds AS (
    SELECT rank, min(id) AS id, sum(calls) AS calls, sum(own_ns) AS own_ns,
        sum(own_ns * (1 - blocks / n_cores)) AS lost_ns, median(blocks) AS blocks, any_value(n_cores) AS n_cores
    FROM sized GROUP BY rank, text
), ordered AS (
    SELECT *, row_number() OVER (PARTITION BY rank ORDER BY lost_ns DESC, id) AS number FROM kinds
), named AS (
    SELECT o.*, p.name, coalesce(p.op_name, '(no operator)') AS operator
    FROM ordered o LEFT JOIN performed p ON p.id = o.id AND o.number <= 20
)
SELECT k.rank,
    format('{:.1f} kernels with fewer blocks than the device has cores ({}) take {:.3f} ms.', sum(calls),
        any_value(n_cores), sum(own_ns) / 1e6)
        AS problem,
    'Mostly under ' || nullif(arg_min(operator, number), '(no operator)') AS place, sum(lost_ns) AS saving_ns,
    'medium: idle cores are certain; that the same work could be spread over them is not' AS confidence,
    -- Sorted when gathered: to gather in order takes 100 kB for each rank.
    list_transform(list_sort(list({'rest': -lost_ns, 'name': name, 'operator': operator, 'calls': calls,
        'blocks': blocks, 'own_ns': own_ns}) FILTER (number <= 20)),
        lambda x: format('{} under {}: {:.1f} calls of {:.0f} blocks, {:.3f} ms', x.name, x.operator, x.calls, x.blocks,
            x.own_ns / 1e6)) AS evidence
FROM named k JOIN device_busy b USING (rank)
GROUP BY k.rank
HAVING 100.0 * sum(lost_ns) > $grid_device_pct * any_value(b.busy_ns)
ORDER BY k.rank
