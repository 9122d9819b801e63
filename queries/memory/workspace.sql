-- title = "Workspaces of convolutions"
-- doc = """Calls of convolutions allocate and release this much again while they run, at most at one moment, beside
-- what the model of the algorithm says that it needs (docs/convolution.md); by layer, largest first. What a library
-- takes outside of the framework's allocator (oneDNN's scratchpads) is in neither."""
-- cannot = "No allocation inside a call of a convolution was recorded that is released before it ends."
-- leave_out = ["filter", "calls", "input"]
-- top = 20
-- [headings]
-- ratio = "allocated over model"
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- layer = "layer"
-- direction = "fprop, dgrad or wgrad; empty for a call that computes both gradients at once"
-- algorithm = "how it was computed; see docs/vocabulary.md"
-- input = "shape of the input"
-- filter = "shape of the filter"
-- calls = "calls with such allocations"
-- workspace_bytes = "allocated at most at one moment in a call, and released before its end"
-- model_workspace_bytes = "by model, of the whole batch at once; the larger one of two gradients"
-- ratio = "allocated over the model's; above 1 the call also holds copies in another layout"
WITH call AS (
    SELECT c.op_id, any_value(c.rank) AS rank, any_value(c.layer) AS layer, any_value(c.input_shape) AS input_shape,
        any_value(c.filter_shape) AS filter_shape, if(count(DISTINCT c.direction) = 1, any_value(c.direction), NULL)
            AS direction, string_agg(DISTINCT c.algorithm, ', ' ORDER BY c.algorithm) AS algorithm,
        max(m.workspace_bytes) AS model_bytes
    FROM conv_calls c LEFT JOIN conv_costs m ON m.op_id = c.op_id AND m.direction = c.direction
    WHERE EXISTS (FROM raw.allocations) GROUP BY c.op_id
), placed AS (
    SELECT c.*, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns FROM call c JOIN raw.ops o ON o.id = c.op_id
), inside AS (
    SELECT c.op_id, a.id, a.device, a.size_bytes, a.allocated_ns, a.freed_ns, a.freed_id
    FROM raw.allocations a
    ASOF JOIN placed c ON c.rank = a.rank AND c.pid IS NOT DISTINCT FROM a.pid AND c.tid IS NOT DISTINCT FROM a.tid
        AND a.allocated_ns >= c.start_ns
    WHERE a.freed_ns <= c.end_ns AND a.how = 'recorded'
), summed AS (
    SELECT op_id, device, sum(bytes) OVER (PARTITION BY op_id, device ORDER BY at_ns, number) AS bytes
    FROM (SELECT op_id, device, allocated_ns AS at_ns, id AS number, size_bytes AS bytes FROM inside
        UNION ALL SELECT op_id, device, freed_ns, freed_id, -size_bytes FROM inside)
), most AS (
    SELECT op_id, device, CAST(max(bytes) AS BIGINT) AS bytes FROM summed GROUP BY op_id, device
)
SELECT c.rank, m.device, c.layer, c.direction, c.algorithm, array_to_string(c.input_shape, ' x ') AS input,
    array_to_string(c.filter_shape, ' x ') AS filter, count(*) AS calls, max(m.bytes) AS workspace_bytes,
    max(c.model_bytes) AS model_workspace_bytes, max(m.bytes) / nullif(max(c.model_bytes), 0) AS ratio
FROM most m JOIN placed c ON c.op_id = m.op_id
GROUP BY ALL
ORDER BY rank, device, workspace_bytes DESC, layer, direction, algorithm, input, filter
