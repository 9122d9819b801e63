-- doc = """The least time that a convolution call could take on its device by the peaks: arithmetic at full rate, or
-- every tensor moved once at full bandwidth. Only where shapes and peaks are known."""
-- empty_without = ["peaks"]
-- types = """op_id BIGINT, rank INTEGER, direction VARCHAR, floor_ns DOUBLE, direct_floor_ns DOUBLE"""
-- [columns]
-- op_id = "the convolution call"
-- rank = "process of the job"
-- direction = "fprop, dgrad or wgrad"
-- floor_ns = "by the cheapest method that the shape admits"
-- direct_floor_ns = "by the direct method"
WITH rated AS (
    -- A library may take tensor cores for single precision (TF32), so the faster of the two is the floor's.
    SELECT k.op_id, k.direction, v.rank, k.direct_flop, k.moved_bytes, any_value(p.memory_bytes_per_s)
        AS memory_bytes_per_s, max(p.peak_flop_per_s) AS peak_flop_per_s
    FROM conv_costs k JOIN conv_calls v ON v.op_id = k.op_id AND v.direction = k.direction
    JOIN peaks p ON p.rank = v.rank
        AND (p.arithmetic = k.arithmetic OR p.arithmetic = 'tf32' AND k.arithmetic = 'fp32')
    GROUP BY ALL
), cheapest AS (
    SELECT op_id, direction, min(total_flop) AS flop FROM conv_methods GROUP BY op_id, direction
)
SELECT r.op_id, r.rank, r.direction,
    1e9 * greatest(c.flop / r.peak_flop_per_s, coalesce(r.moved_bytes / r.memory_bytes_per_s, 0)) AS floor_ns,
    1e9 * greatest(r.direct_flop / r.peak_flop_per_s,
        coalesce(r.moved_bytes / r.memory_bytes_per_s, 0)) AS direct_floor_ns
FROM rated r JOIN cheapest c ON c.op_id = r.op_id AND c.direction = r.direction
WHERE r.peak_flop_per_s IS NOT NULL
