-- doc = """The view op_rooflines summed up, per step and rank: a row per family and type, one per operator, direction
-- and type, and one per layer and direction. Where the work of a row took less time than its peaks allow there is no
-- share and no time above."""
-- [columns]
-- part = "family, operator or layer: what the row is of"
-- family = "what the operators compute; NULL for layers"
-- op_name = "operator, as recorded; NULL for families and layers"
-- layer = "module or layer that the operators ran for; NULL for families and operators"
-- direction = "forward or backward; NULL for families"
-- dtype = "type of the arguments; NULL for layers"
-- calls = "calls per step"
-- busy_ns = "device time per step"
-- share_pct = "of all device time"
-- achieved_flop_per_s = "products and other arithmetic over that time"
-- throughput_bytes_per_s = "least traffic over that time; of transfers and collectives over the link"
-- attainable_pct = "time that the roofline allows, of the time taken"
-- floor_ns = "time per step that the roofline allows"
-- above_ns = "time per step above it"
-- bound = """what most of the time rests on: compute, memory, link; launch where calls are too short to tell. Cannot
-- tell where the work took less time than the peaks allow"""
-- intensity_flop_per_byte = "arithmetic over least traffic"
-- roof = "type of its products, or vector for other arithmetic"
-- peak_flop_per_s = "dense peak of that type"
-- memory_bytes_per_s = "bandwidth of the device's memory"
WITH bound AS (
    SELECT CASE WHEN grouping(op_name) = 0 THEN 'operator' WHEN grouping(layer) = 0 THEN 'layer' ELSE 'family' END
            AS part, family, op_name, layer, direction, dtype, bound, sum(1 / per_rank) AS calls,
        sum(busy_ns / per_rank) AS busy_ns, sum(busy_ns) AS all_ns,
        sum((matrix_flop + vector_flop) / per_rank) AS flop, sum(bytes / per_rank) AS bytes,
        sum(busy_ns / per_rank) FILTER (bytes IS NOT NULL) AS moving_ns, sum(floor_ns / per_rank) AS floor_ns,
        sum(busy_ns / per_rank) FILTER (floor_ns IS NOT NULL) AS rated_ns, bool_or(matrix_flop > 0) AS is_product,
        any_value(peak_flop_per_s) FILTER (matrix_flop > 0) AS product_flop_per_s,
        any_value(vector_flop_per_s) AS vector_flop_per_s, any_value(memory_bytes_per_s) AS memory_bytes_per_s
    FROM op_rooflines WHERE reason IS NULL
    GROUP BY GROUPING SETS ((family, dtype, bound), (op_name, family, direction, dtype, bound),
        (layer, direction, bound))
), summed AS (
    SELECT part, family, op_name, layer, direction, dtype, sum(calls) AS calls, sum(busy_ns) AS busy_ns,
        sum(all_ns) AS all_ns, sum(flop) AS flop, sum(bytes) AS bytes, sum(moving_ns) AS moving_ns,
        sum(floor_ns) AS floor_ns, sum(rated_ns) AS rated_ns, bool_or(is_product) AS is_product,
        any_value(product_flop_per_s) AS product_flop_per_s, any_value(vector_flop_per_s) AS vector_flop_per_s,
        any_value(memory_bytes_per_s) AS memory_bytes_per_s,
        arg_max(bound, (busy_ns, bound)) FILTER (bound IS NOT NULL) AS bound,
        coalesce(sum(floor_ns) > sum(rated_ns), false) AS is_beyond
    FROM bound GROUP BY ALL
)
SELECT part, family, op_name, layer, direction, dtype, round(calls, 6) AS calls, busy_ns,
    100.0 * all_ns / (SELECT nullif(sum(total_ns), 0) FROM covered) AS share_pct,
    1e9 * flop / nullif(busy_ns, 0) AS achieved_flop_per_s,
    1e9 * bytes / nullif(moving_ns, 0) AS throughput_bytes_per_s,
    if(is_beyond, NULL, 100.0 * floor_ns / nullif(rated_ns, 0)) AS attainable_pct, floor_ns,
    if(is_beyond, NULL, rated_ns - floor_ns) AS above_ns,
    if(is_beyond, 'cannot tell: faster than the peaks', bound) AS bound,
    flop / nullif(bytes, 0) AS intensity_flop_per_byte, if(is_product, coalesce(dtype, '?'), 'vector') AS roof,
    if(is_product, product_flop_per_s, vector_flop_per_s) AS peak_flop_per_s, memory_bytes_per_s
FROM summed
