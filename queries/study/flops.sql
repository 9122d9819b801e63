-- title = "By model: FLOPs of each pass by layer and method"
-- doc = """FLOPs of each method in the forward pass and in each gradient, products and transforms with the waste at the
-- edge of tiles. Winograd tiles and tiled FFT that only one library has are listed if that library was timed. *:
-- transforms not counted. These are modelled, not read from a counter of the device."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = ["of_direct_dgrad_pct", "of_direct_wgrad_pct"]
-- [chart]
-- kind = "bars"
-- label = ["label", "batch"]
-- group = "method"
-- parts = ["forward_flop"]
-- [columns]
-- label = "network and layer"
-- batch = "images"
-- method = "the model; with * where the FLOPs of its transforms are not counted"
-- forward_flop = "executed in the forward pass"
-- of_direct_pct = "of the direct method's in the forward pass"
-- dgrad_flop = "executed for the gradient of the input"
-- of_direct_dgrad_pct = "of the direct method's for that"
-- wgrad_flop = "executed for the gradient of the filter"
-- of_direct_wgrad_pct = "of the direct method's for that"
-- [headings]
-- of_direct_pct = "of direct"
-- of_direct_dgrad_pct = "dgrad, of direct"
-- of_direct_wgrad_pct = "wgrad, of direct"
WITH shape AS (
    SELECT DISTINCT ON (problem, batch) problem, batch, label, input_shape, filter_shape, output_shape, stride, padding,
        dilation, groups, dtype
    FROM algorithm_times ORDER BY problem, batch, len(label), label, number
), timed AS (
    SELECT DISTINCT problem, batch, method FROM algorithm_times WHERE is_timed
)
SELECT s.label, s.batch, c.named AS method,
    max(c.total_flop) FILTER (c.direction = 'fprop') AS forward_flop,
    max(100 / c.direct_ratio) FILTER (c.direction = 'fprop') AS of_direct_pct,
    max(c.total_flop) FILTER (c.direction = 'dgrad') AS dgrad_flop,
    max(100 / c.direct_ratio) FILTER (c.direction = 'dgrad') AS of_direct_dgrad_pct,
    max(c.total_flop) FILTER (c.direction = 'wgrad') AS wgrad_flop,
    max(100 / c.direct_ratio) FILTER (c.direction = 'wgrad') AS of_direct_wgrad_pct
FROM shape s JOIN method_costs c
    ON s.input_shape = c.input_shape AND s.filter_shape = c.filter_shape AND s.output_shape = c.output_shape
    AND s.stride = c.stride AND s.padding = c.padding AND s.dilation = c.dilation AND s.groups = c.groups
    AND s.dtype IS NOT DISTINCT FROM c.dtype AND NOT c.transposed AND c.method <> 'explicit GEMM'
    AND NOT c.is_fused
LEFT JOIN timed t ON t.problem = s.problem AND t.batch IS NOT DISTINCT FROM s.batch AND t.method = c.method
WHERE c.library IS NULL OR t.method IS NOT NULL
GROUP BY s.label, s.batch, s.problem, c.named
ORDER BY s.label, s.batch, s.problem, forward_flop, c.named
