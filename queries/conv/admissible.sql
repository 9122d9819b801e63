-- title = "Algorithms that cuDNN could have used"
-- doc = """Every algorithm per layer and direction: whether it is admissible for this shape, stride, dilation and type,
-- why not, and its modelled workspace. Places were measured in fp32 on devices without tensor cores; other types have
-- none. Conditions are those of the forward pass in cuDNN 5.1."""
-- cannot = "No convolution on an NVIDIA GPU with recorded shapes and stride in this trace; the conditions are cuDNN's."
-- leave_out = ["memory", "fewer_flop_ratio", "stride", "place", "input", "filter"]
-- [columns]
-- layer = "layer, or filter and its shape"
-- direction = "fprop, dgrad or wgrad"
-- input = "batch x channels x height x width"
-- filter = "filters x channels per group x height x width"
-- stride = "stride"
-- algorithm = "see docs/vocabulary.md"
-- used = "calls {per step and rank|over the whole recording, per rank} that used it"
-- admissible = "whether it could be used"
-- place = "1 is usually the fastest of the admissible algorithms"
-- reason = "why it is excluded, or what else it needs that a trace does not record"
-- workspace_bytes = "modelled; empty if it needs only tables"
-- fewer_flop_ratio = "FLOPs of the direct method over its own, by model"
-- memory = "workspace in words"
WITH shape AS (
    SELECT layer, direction, input_shape, filter_shape, stride, dilation, padding, min(position) AS position,
        min(op_id) AS op_id
    FROM counted_conv_calls GROUP BY layer, direction, input_shape, filter_shape, stride, dilation, padding
), used AS (
    SELECT layer, direction, input_shape, filter_shape, stride, dilation, padding, algorithm,
        sum(1.0 / per_rank) AS calls
    FROM counted_conv_calls GROUP BY ALL
)
SELECT s.layer, s.direction, array_to_string(s.input_shape, 'x') AS input,
    array_to_string(s.filter_shape, 'x') AS filter,
    array_to_string(s.stride, 'x') AS stride, a.algorithm, coalesce(u.calls, 0) AS used,
    a.is_admissible AS admissible, a.place,
    if(a.is_admissible, 'needs ' || a.needs, array_to_string(a.reasons, '; ')) AS reason, a.workspace_bytes,
    a.direct_ratio AS fewer_flop_ratio, a.memory
FROM shape s JOIN conv_admissible a USING (op_id, direction)
LEFT JOIN used u ON u.layer = s.layer AND u.direction = s.direction AND u.algorithm = a.algorithm
    AND u.input_shape = s.input_shape
    AND u.filter_shape = s.filter_shape AND u.stride = s.stride AND u.padding IS NOT DISTINCT FROM s.padding
    AND u.dilation IS NOT DISTINCT FROM s.dilation
ORDER BY s.position, s.layer, list_position(['fprop', 'dgrad', 'wgrad'], s.direction), input, filter, stride,
    a.is_admissible DESC,
    a.place NULLS LAST, a.algorithm, s.op_id
