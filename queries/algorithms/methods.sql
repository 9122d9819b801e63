-- title = "Cost of every admissible method"
-- doc = """Modelled, per call: FLOPs and workspace of each method that stride, dilation and filter size allow. For
-- Winograd on 5x5 filters, products only."""
-- cannot = "No convolution with recorded shapes in this trace."
-- leave_out = ["waste_pct", "direct_ratio", "input"]
-- [params]
-- way = { type = "VARCHAR", default = "fprop", doc = "direction: fprop, dgrad or wgrad" }
-- [columns]
-- layer = "layer, or filter and its shape"
-- input = "batch x channels x height x width"
-- filter = "filters x channels per group x height x width"
-- method = "how it could be computed"
-- used = "whether this call used it"
-- total_flop = "products and transforms"
-- direct_ratio = "FLOPs of the direct method over these"
-- waste_pct = "Winograd: products beyond the edge of the output, of all products"
-- workspace_bytes = "memory for transformed tensors or unrolled input"
-- [headings]
-- waste_pct = "waste of products"
-- direct_ratio = "direct over this"
WITH shape AS (
    SELECT DISTINCT ON (layer, input_shape, filter_shape) op_id, layer, direction, position, input_shape, filter_shape
    FROM counted_conv_calls WHERE direction = $way ORDER BY layer, input_shape, filter_shape, start_ns
)
SELECT layer, array_to_string(input_shape, 'x') AS input, array_to_string(filter_shape, 'x') AS filter, m.method,
    m.method = k.method AS used, total_flop, direct_ratio, waste_pct, m.workspace_bytes
FROM shape
JOIN conv_methods m USING (op_id, direction)
LEFT JOIN conv_costs k USING (op_id, direction)
ORDER BY position, layer, input, filter, total_flop DESC, m.method
