-- doc = """The view op_costs for the calls that reports per step count (launched in steps that are not warm-up; without
-- steps all), with the least time that each could take on its device by the peaks: its products at the dense peak of
-- their type, other arithmetic at that of fp32, its bytes at the bandwidth of the memory."""
-- [columns]
-- per_rank = "what a sum over all ranks is divided by, for what one of them does in a step"
-- peak_flop_per_s = "of the device for the type of the products; NULL where unknown"
-- vector_flop_per_s = "peak of other arithmetic, that of fp32; NULL where unknown"
-- memory_bytes_per_s = """of the device, else on a CPU that of a copy that traceview collect measured; NULL where
-- unknown"""
-- is_copy_rate = "whether it is that of a copy: what caches hold moves faster, so that it bounds nothing for sure"
-- sure_ns = "the same as floor_ns, of arithmetic alone where the bandwidth is that of a copy"
-- peaks_from = "source of the peaks, or unknown, and why"
-- floor_ns = """the largest of the three times; NULL where a peak that it needs is unknown. Where the bandwidth is
-- unknown, of arithmetic alone"""
-- bound = """what that time rests on: compute, memory; link for transfers and collectives; launch where a call of less
-- than 10 us takes ten times as long; NULL where it cannot be told"""
WITH step AS (
    SELECT rank, step, NOT is_warmup AS is_counted FROM step_times
), device AS (
    SELECT DISTINCT rank, vector_flop_per_s, memory_bytes_per_s, peaks_from FROM peaks
), rated AS (
    SELECT c.*, greatest(s.n_steps, 1) * greatest(s.n_ranks, 1) AS per_rank,
        p.peak_flop_per_s, d.vector_flop_per_s, coalesce(d.memory_bytes_per_s, m.copy_bytes_per_s)
            AS memory_bytes_per_s, coalesce(d.memory_bytes_per_s IS NULL AND m.copy_bytes_per_s > 0, false)
            AS is_copy_rate, coalesce(d.peaks_from, 'unknown') AS peaks_from,
        c.family IN ('transfer', 'collective') AS is_on_link
    FROM op_costs c JOIN scope s USING (rank) LEFT JOIN step t ON t.rank = c.rank AND t.step = c.step
    LEFT JOIN peaks p ON p.rank = c.rank AND p.arithmetic = c.dtype LEFT JOIN device d ON d.rank = c.rank
    LEFT JOIN (SELECT rank, copy_bytes_per_s FROM processes WHERE rank NOT IN (SELECT rank FROM raw.kernels)) m
        ON m.rank = c.rank
    WHERE NOT s.has_steps OR t.is_counted
), timed AS (
    SELECT *, 1e9 * matrix_flop / peak_flop_per_s AS matrix_ns, 1e9 * vector_flop / vector_flop_per_s AS vector_ns,
        1e9 * bytes / memory_bytes_per_s AS memory_ns
    FROM rated
), floored AS (
    SELECT *, CASE WHEN is_on_link OR matrix_flop > 0 AND matrix_ns IS NULL THEN NULL
        WHEN memory_ns IS NOT NULL THEN greatest(coalesce(matrix_ns, 0), coalesce(vector_ns, 0), memory_ns)
        WHEN matrix_flop > 0 AND memory_bytes_per_s IS NULL THEN matrix_ns END AS floor_ns,
        if(is_copy_rate, if(matrix_flop > 0 AND NOT is_on_link, matrix_ns, NULL), floor_ns) AS sure_ns
    FROM timed
)
SELECT * EXCLUDE (is_on_link, matrix_ns, vector_ns, memory_ns),
    CASE WHEN is_on_link THEN 'link' WHEN floor_ns IS NULL OR memory_ns IS NULL THEN NULL
        WHEN floor_ns < 0.1 * busy_ns AND busy_ns < 10000 THEN 'launch'
        WHEN memory_ns >= floor_ns THEN 'memory' ELSE 'compute' END AS bound
FROM floored
