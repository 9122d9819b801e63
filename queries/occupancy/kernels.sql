-- title = "Kernels with a grid smaller than one wave"
-- doc = """By name and operator, most time first: only launches with fewer threads than the device can hold.
-- Communication kernels use few cores by design and are left out."""
-- cannot = """Nothing to list: no kernel has too few threads, among those with a recorded grid on a device of known
-- size (the table before this counts them)."""
-- leave_out = ["cores", "blocks", "threads", "category", "operator"]
-- kernels = ["name"]
-- [columns]
-- name = "kernel"
-- category = "what it does"
-- operator = "operator that launched it"
-- calls = "launches with fewer threads than the device can hold"
-- total_ns = "their time"
-- time_pct = "of the time of the kernels that the table before this counts"
-- threads = "median of threads per launch"
-- fill_pct = "median of threads, of what the device can hold"
-- blocks = "median of blocks per launch"
-- cores = "cores of the device"
-- [headings]
-- time_pct = "of kernel time"
-- fill_pct = "filled of device"
WITH sized AS (
    SELECT k.name, k.category, k.op_name, k.dur_ns, d.n_cores, d.n_cores * d.max_threads_per_core AS capacity,
        1.0::DOUBLE * k.grid_x * k.grid_y * k.grid_z AS blocks,
        1.0::DOUBLE * k.grid_x * k.grid_y * k.grid_z * k.block_x * k.block_y * k.block_z AS threads
    FROM kernels k JOIN device_sizes d ON d.rank = k.rank AND d.device = k.device
    WHERE least(k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z) > 0
)
SELECT name, category, coalesce(op_name, '(no operator)') AS operator, count(*) AS calls,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    100.0 * sum(dur_ns) / nullif((SELECT sum(dur_ns) FROM sized WHERE blocks IS NOT NULL
        AND category <> 'communication'), 0) AS time_pct,
    median(threads) AS threads, 100.0 * median(threads / capacity) AS fill_pct, median(blocks) AS blocks,
    any_value(n_cores) AS cores
FROM sized
WHERE threads < capacity AND category <> 'communication'
GROUP BY name, category, op_name
ORDER BY total_ns DESC, name, category, operator
