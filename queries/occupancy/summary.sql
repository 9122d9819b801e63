-- title = "Occupancy limits"
-- doc = """A device holds cores x threads per core. Kernels without a recorded grid and devices of unknown size are
-- left out, and so are communication kernels, which use few cores by design."""
-- cannot = "No kernel with a recorded grid on a device whose size is recorded or known."
-- leave_out = ["few_blocks_pct", "capacity", "kernels", "occupancy_pct", "unfilled_ns", "name", "size_from"]
-- [columns]
-- rank = "process of the job"
-- device = "device number"
-- name = "product"
-- capacity = "threads that can be resident at once"
-- kernels = "kernels with a recorded grid"
-- unfilled = "of them with fewer threads than that"
-- unfilled_pct = "of the kernels"
-- unfilled_ns = "their time, overlaps counted twice"
-- time_pct = "of the time of the kernels"
-- few_blocks_pct = "time of kernels with fewer blocks than cores, of the time of the kernels"
-- occupancy_pct = "recorded occupancy of the device's threads, weighted by time"
-- size_from = "where the device's size is from: recorded, or its datasheet"
-- [headings]
-- unfilled_pct = "of kernels"
-- time_pct = "of kernel time"
-- few_blocks_pct = "few blocks, of kernel time"
-- occupancy_pct = "occupancy of threads"
WITH sized AS (
    SELECT k.rank, k.device, d.name, d.size_from, d.n_cores * d.max_threads_per_core AS capacity, k.dur_ns,
        k.occupancy_pct, 1.0::DOUBLE * k.grid_x * k.grid_y * k.grid_z AS blocks,
        1.0::DOUBLE * k.block_x * k.block_y * k.block_z AS threads_per_block, d.n_cores
    FROM kernels k JOIN device_sizes d ON d.rank = k.rank AND d.device = k.device
    -- No launch has a grid without blocks: what says so is damaged.
    WHERE k.category <> 'communication' AND k.grid_x IS NOT NULL
        AND least(k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z) > 0
)
SELECT rank, device, any_value(name) AS name, any_value(capacity) AS capacity, count(*) AS kernels,
    count(*) FILTER (blocks * threads_per_block < capacity) AS unfilled,
    100.0 * count(*) FILTER (blocks * threads_per_block < capacity) / count(*) AS unfilled_pct,
    CAST(coalesce(sum(dur_ns) FILTER (blocks * threads_per_block < capacity), 0) AS BIGINT) AS unfilled_ns,
    100.0 * coalesce(sum(dur_ns) FILTER (blocks * threads_per_block < capacity), 0) / nullif(sum(dur_ns),
        0) AS time_pct,
    100.0 * coalesce(sum(dur_ns) FILTER (blocks < n_cores), 0) / nullif(sum(dur_ns), 0) AS few_blocks_pct,
    sum(occupancy_pct * dur_ns) / nullif(sum(dur_ns) FILTER (occupancy_pct IS NOT NULL), 0) AS occupancy_pct,
    any_value(size_from) AS size_from
FROM sized
GROUP BY rank, device
ORDER BY rank, device
