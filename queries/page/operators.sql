-- title = "Operators under the roofline"
-- doc = """The operators that take most time: FLOP per byte against FLOP/s. The sloping roof is the bandwidth of the
-- memory, the level ones are the dense peaks of the types of products, and that of fp32 for all other arithmetic."""
-- cannot = "No operator with arithmetic whose cost is known in this trace."
-- [chart]
-- kind = "roofline"
-- x = "intensity_flop_per_byte"
-- y = "achieved_flop_per_s"
-- peak = "peak_flop_per_s"
-- bandwidth = "memory_bytes_per_s"
-- type = "roof"
-- colour = "family"
-- label = "op_name"
-- [columns]
-- op_name = "operator, as recorded"
-- family = "what it computes"
-- direction = "forward or backward"
-- roof = "type of its products, or vector for other arithmetic"
-- busy_ns = "device time per step"
-- intensity_flop_per_byte = "arithmetic over least traffic"
-- achieved_flop_per_s = "arithmetic over device time"
-- attainable_pct = "time that the roofline allows, of the time taken; empty where a peak is not known, or exceeded"
-- peak_flop_per_s = "dense peak of that type"
-- memory_bytes_per_s = "bandwidth of the device's memory"
-- [headings]
-- attainable_pct = "of attainable"
SELECT op_name, family, direction, roof, busy_ns, intensity_flop_per_byte, achieved_flop_per_s, attainable_pct,
    peak_flop_per_s, memory_bytes_per_s
FROM rooflines WHERE part = 'operator' AND achieved_flop_per_s > 0 AND intensity_flop_per_byte > 0
ORDER BY busy_ns DESC, op_name, family, direction, roof
LIMIT 40
