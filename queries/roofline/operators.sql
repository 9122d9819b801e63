-- title = "By operator"
-- doc = "Per step and rank, most time above the roofline first, then what has none."
-- cannot = """No operator of this trace has recorded arguments, and no copy or collective was recorded (PyTorch records
-- shapes with record_shapes=True)."""
-- subject = "operators"
-- leave_out = ["family", "calls", "throughput_bytes_per_s", "share_pct"]
-- rest = ["calls", "busy_ns", "share_pct", "floor_ns", "above_ns"]
-- [columns]
-- op_name = "operator, as recorded"
-- family = "what it computes"
-- direction = "forward or backward"
-- dtype = "type of the arguments"
-- calls = "calls per step"
-- busy_ns = "device time per step"
-- share_pct = "of all device time"
-- achieved_flop_per_s = "products and other arithmetic over that time"
-- throughput_bytes_per_s = "least traffic over that time; of transfers and collectives over the link"
-- attainable_pct = "time that the roofline allows, of the time taken; empty where peaks or costs are not known"
-- floor_ns = "time per step that the roofline allows"
-- above_ns = "time per step above it"
-- bound = "what most of the time rests on: compute, memory, link; launch where calls are too short to tell"
-- [headings]
-- share_pct = "of device time"
-- attainable_pct = "of attainable"
-- [fractions]
-- calls = "calls/step"
WITH part AS (
    SELECT op_name, family, direction, dtype,
        round(sum(1 / per_rank), 6) AS calls, sum(busy_ns / per_rank) AS busy_ns,
        100.0 * sum(busy_ns) / (SELECT nullif(sum(total_ns), 0) FROM covered) AS share_pct,
        1e9 * sum((matrix_flop + vector_flop) / per_rank) / nullif(sum(busy_ns / per_rank), 0) AS achieved_flop_per_s,
        1e9 * sum(bytes / per_rank) / nullif(sum(busy_ns / per_rank) FILTER (bytes IS NOT NULL), 0)
            AS throughput_bytes_per_s,
        100.0 * sum(floor_ns / per_rank) / nullif(sum(busy_ns / per_rank) FILTER (floor_ns IS NOT NULL), 0)
            AS attainable_pct,
        sum(floor_ns / per_rank) AS floor_ns, sum((busy_ns - floor_ns) / per_rank) AS above_ns
    FROM op_rooflines WHERE reason IS NULL GROUP BY ALL
), bound AS (
    SELECT op_name, family, direction, dtype, bound, sum(busy_ns) AS busy_ns FROM op_rooflines
    WHERE reason IS NULL GROUP BY ALL
), largest AS (
    SELECT op_name, family, direction, dtype, arg_max(bound, (busy_ns, bound)) AS bound FROM bound
    WHERE bound IS NOT NULL GROUP BY ALL
)
SELECT p.*, b.bound
FROM part p LEFT JOIN largest b ON b.op_name IS NOT DISTINCT FROM p.op_name
    AND b.family IS NOT DISTINCT FROM p.family
    AND b.direction IS NOT DISTINCT FROM p.direction
    AND b.dtype IS NOT DISTINCT FROM p.dtype
ORDER BY above_ns DESC NULLS LAST, busy_ns DESC, op_name, family, direction, dtype
