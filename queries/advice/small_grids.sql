-- title = "Grids smaller than one wave"
-- doc = """Kernels with fewer blocks than the device has cores (multiprocessors, compute units), so that some cores
-- have nothing to do. The bound is their time, less what overlaps work that started earlier on the device, times the
-- share of cores without a block, also of kernels that run beside them. Communication kernels use few cores by design
-- and are left out."""
-- why = """A core without a block has nothing to do; a larger batch, or several small kernels in parallel,
-- would use it."""
-- cost = "Memory for larger batches; a different batch size trains differently."
-- unless = "Another process uses the idle cores, or the model is simply this small."
-- needs = ["kernels", "device_size"]
-- sees = "graphs"
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
), beside AS (
    -- Copies use no core; a kernel of which the blocks are not known may use all.
    SELECT o.rank, o.device, o.start_ns, o.end_ns, if(o.kind = 'copy', 0, coalesce(f.blocks / f.n_cores, 1)) AS used
    FROM (SELECT id, rank, device, kind, start_ns, end_ns, device_until_ns,
        lead(start_ns) OVER (PARTITION BY rank, device ORDER BY start_ns, end_ns DESC, id) AS next_ns
        FROM busy WHERE kind IN ('kernel', 'copy')) o
    LEFT JOIN few f ON f.id = o.id WHERE o.device_until_ns > o.start_ns OR o.next_ns < o.end_ns
), usage AS (
    SELECT rank, device, at_ns, sum(sum(used)) OVER lane AS used, lead(at_ns) OVER lane - at_ns AS dur_ns
    FROM (SELECT rank, device, start_ns AS at_ns, used FROM beside
        UNION ALL SELECT rank, device, end_ns, -used FROM beside)
    GROUP BY rank, device, at_ns WINDOW lane AS (PARTITION BY rank, device ORDER BY at_ns)
), idle AS MATERIALIZED (
    SELECT rank, device, at_ns, coalesce(sum(greatest(1 - used, 0) * dur_ns) OVER (PARTITION BY rank, device
        ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns FROM usage
), sized AS (
    -- Their texts are not joined: of 500 ranks these take 100 MB.
    SELECT c.*, f.blocks, f.n_cores,
        coalesce((u.before_ns - b.before_ns) / (c.end_ns - c.from_ns), 1 - f.blocks / f.n_cores) AS idle
    FROM (SELECT rank, id, hash(name, op_name) AS text, mean_ns / per AS own_ns, 1.0 / per AS calls, device, end_ns,
            greatest(start_ns, device_until_ns) AS from_ns FROM counted
        WHERE kind = 'kernel' AND category <> 'communication') c JOIN few f ON f.id = c.id
    LEFT JOIN idle b ON b.rank = c.rank AND b.device = c.device AND b.at_ns = c.from_ns AND c.end_ns > c.from_ns
    LEFT JOIN idle u ON u.rank = c.rank AND u.device = c.device AND u.at_ns = c.end_ns
), kinds AS (
    SELECT rank, min(id) AS id, sum(calls) AS calls, sum(own_ns) AS own_ns,
        sum(own_ns * idle) AS lost_ns, median(blocks) AS blocks, any_value(n_cores) AS n_cores
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
