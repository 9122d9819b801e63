-- title = "Batches at which the fastest algorithm changes"
-- doc = """Measured: two neighbouring batches, of those with a difference between the first two, have different
-- winners. Model: from this batch on the second method executes fewer FLOPs than the first, since what it spends on the
-- filter does not grow with the batch; fewer FLOPs are not always less time."""
-- cannot = "No shape whose fastest algorithm changes with the batch, neither by time nor by the model of FLOPs."
-- leave_out = ["setting"]
-- [columns]
-- label = "network and layer"
-- direction = "fprop, dgrad or wgrad"
-- basis = "measured, published, or model (FLOPs)"
-- below = "algorithm or method up to there"
-- from_batch = "first batch at which the other is ahead"
-- above = "algorithm or method from there on"
-- setting = "device, threads and type of what was timed"
WITH won AS (
    SELECT setting, problem, label, direction, batch, contender, status,
        lag(contender) OVER (PARTITION BY setting, problem, direction ORDER BY batch) AS before
    FROM algorithm_best WHERE is_ahead
), shape AS (
    SELECT DISTINCT ON (problem, direction) problem, label, direction, input_shape, filter_shape, output_shape, stride,
        padding, dilation, groups, dtype
    FROM algorithm_times WHERE direction IN ('fprop', 'dgrad', 'wgrad') ORDER BY problem, direction, number
), cost AS (
    -- FLOPs are a sum: what every image costs, and what the filter costs.
    SELECT s.problem, s.label, s.direction, c.method, c.filter_flop, (c.total_flop - c.filter_flop) / c.input_shape[1]
        AS image_flop
    FROM shape s JOIN method_costs c ON s.input_shape = c.input_shape AND s.filter_shape = c.filter_shape
        AND s.output_shape = c.output_shape AND s.stride = c.stride AND s.padding = c.padding
        AND s.dilation = c.dilation AND s.groups = c.groups AND s.dtype IS NOT DISTINCT FROM c.dtype
        AND NOT c.transposed AND s.direction = c.direction
    WHERE c.transform_flop IS NOT NULL AND c.library IS NULL
        AND c.method <> 'explicit GEMM' AND NOT c.is_fused
), met AS (
    SELECT a.problem, a.label, a.direction, a.method AS below, b.method AS above,
        CAST(floor((b.filter_flop - a.filter_flop) / (a.image_flop - b.image_flop)) AS BIGINT) + 1 AS from_batch
    FROM cost a JOIN cost b ON b.problem = a.problem AND b.direction = a.direction
        AND b.image_flop < a.image_flop AND b.filter_flop > a.filter_flop
), ahead AS (
    -- Only where both are the cheapest of all, on either side of that batch.
    SELECT m.* FROM met m WHERE m.from_batch >= 2 AND NOT EXISTS (FROM cost c JOIN cost a
        ON a.problem = m.problem AND a.direction = m.direction AND a.method = m.below
        WHERE c.problem = m.problem AND c.direction = m.direction AND c.method NOT IN (m.below, m.above)
        AND c.filter_flop + c.image_flop * (m.from_batch - 1) < a.filter_flop + a.image_flop * (m.from_batch - 1))
)
SELECT label, direction, status AS basis, before AS below, batch AS from_batch, contender AS above, setting
FROM won WHERE before <> contender
UNION ALL
SELECT label, direction, 'model (FLOPs)', below, from_batch, above, NULL FROM ahead
ORDER BY basis, label, list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction), from_batch, below, above,
    setting
