-- doc = """The least time that a convolution call could take on its device by the peaks: arithmetic at full rate, or
-- every tensor moved once at full bandwidth. Only where shapes and peaks are known."""
-- [columns]
-- op_id = "the convolution call"
-- rank = "process of the job"
-- direction = "fprop, dgrad or wgrad"
-- floor_ns = "by the cheapest method that the shape admits"
-- direct_floor_ns = "by the direct method"
WITH peak AS (
    -- A library may take tensor cores for single precision (TF32), so the faster of the two is the floor's.
    SELECT rank, fp32_flop_per_s, greatest(fp32_flop_per_s, tf32_flop_per_s) AS single_flop_per_s, fp16_flop_per_s,
        bf16_flop_per_s,
        memory_bytes_per_s
    FROM device_peaks WHERE is_used QUALIFY row_number() OVER (PARTITION BY rank ORDER BY device) = 1
        AND min(name) OVER (PARTITION BY rank) IS NOT DISTINCT FROM max(name) OVER (PARTITION BY rank)
), rated AS (
    SELECT k.op_id, k.direction, v.rank, k.direct_flop, k.moved_bytes, p.memory_bytes_per_s,
        CASE k.arithmetic WHEN 'fp16' THEN p.fp16_flop_per_s WHEN 'bf16' THEN p.bf16_flop_per_s
            WHEN 'fp32' THEN coalesce(p.single_flop_per_s, p.fp32_flop_per_s)
                WHEN 'tf32' THEN p.single_flop_per_s END AS peak_flop_per_s
    FROM conv_costs k JOIN conv_calls v ON v.op_id = k.op_id AND v.direction = k.direction
    JOIN peak p ON p.rank = v.rank
), cheapest AS (
    SELECT op_id, direction, min(total_flop) AS flop FROM conv_methods GROUP BY op_id, direction
)
SELECT r.op_id, r.rank, r.direction,
    1e9 * greatest(c.flop / r.peak_flop_per_s, coalesce(r.moved_bytes / r.memory_bytes_per_s, 0)) AS floor_ns,
    1e9 * greatest(r.direct_flop / r.peak_flop_per_s,
        coalesce(r.moved_bytes / r.memory_bytes_per_s, 0)) AS direct_floor_ns
FROM rated r JOIN cheapest c ON c.op_id = r.op_id AND c.direction = r.direction
WHERE r.peak_flop_per_s IS NOT NULL
