-- title = "By model: FLOPs by the size of the filter"
-- doc = """Forward pass of a dozen of the timed shapes, with other filters and the padding that keeps the output's
-- size. The direct method grows with the filter's area; FFT grows only where the padded image needs the next power of
-- two. *: transforms not counted."""
-- cannot = "No timed convolution of stride 1 on images of 15 pixels or more in this capture."
-- [chart]
-- kind = "curves"
-- panel = ["shape"]
-- x = "filter"
-- y = "model_flop"
-- line = "method"
-- [columns]
-- shape = "batch x channels x height x width, filters"
-- filter = "its side"
-- method = "model"
-- model_flop = "executed, by model"
-- direct_ratio = "FLOPs of the direct method over these"
-- model_workspace_bytes = "by model, of the whole batch at once"
SELECT DISTINCT concat(array_to_string(f.input_shape, 'x'), ' k', f.filter_shape[1]) AS shape, f.side AS filter,
    c.named AS method,
    c.total_flop AS model_flop, c.direct_ratio, c.workspace_bytes AS model_workspace_bytes
FROM filter_sweeps f JOIN method_costs c
    ON f.input_shape = c.input_shape AND f.filter_shape = c.filter_shape AND f.output_shape = c.output_shape
    AND f.stride = c.stride AND f.padding = c.padding AND f.dilation = c.dilation AND f.groups = c.groups
    AND f.dtype IS NOT DISTINCT FROM c.dtype AND NOT c.transposed AND c.direction = 'fprop' AND c.library IS NULL
    AND c.method <> 'explicit GEMM' AND NOT c.is_fused
ORDER BY shape, filter, model_flop, method
