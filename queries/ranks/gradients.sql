-- title = "Gradients and parameters"
-- doc = """Bytes that a rank gives into all-reduce and reduce-scatter {per step|in the recording}, beside those of the
-- model's parameters: in plain data parallel training they are equal where gradients have the parameters' type.
-- Those of the forward pass and of tensor parallel groups are of activations: they do not count."""
-- cannot = "No all-reduce or reduce-scatter of gradients whose bytes are recorded."
-- top = 16
-- [columns]
-- rank = "process of the job"
-- gradient_bytes = "{per step|in the recording}"
-- parameters = "of the model, as traceview collect noted them"
-- parameter_bytes = "of them in the type of the gradients"
-- ratio = "gradient bytes over parameter bytes"
-- verdict = "what that says"
WITH sent AS (
    SELECT rank, sum(size_bytes / per) AS gradient_bytes, mode(dtype) AS dtype FROM exchanges
    WHERE is_counted AND what IN ('all_reduce', 'reduce_scatter') AND size_bytes > 0
        AND phase IS DISTINCT FROM 'forward'
        AND id NOT IN (SELECT m.id FROM matched_calls m JOIN process_groups g ON g.team = m.team
            WHERE g.dimension = 'tensor')
    GROUP BY rank
), noted AS (
    SELECT c.rank, max(TRY_CAST(p.value->>'$.model.parameters' AS BIGINT)) AS parameters
    FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank
    GROUP BY c.rank
), sized AS (
    SELECT s.rank, s.gradient_bytes, n.parameters, n.parameters * CASE lower(s.dtype) WHEN 'double' THEN 8
        WHEN 'half' THEN 2 WHEN 'bfloat16' THEN 2 WHEN 'c10::half' THEN 2 WHEN 'c10::bfloat16' THEN 2 ELSE 4 END
        AS parameter_bytes
    FROM sent s LEFT JOIN noted n ON n.rank = s.rank
)
SELECT rank, gradient_bytes, parameters, parameter_bytes, gradient_bytes / nullif(parameter_bytes, 0) AS ratio,
    CASE WHEN parameter_bytes IS NULL THEN 'parameters are not recorded (traceview collect notes them)'
        WHEN gradient_bytes BETWEEN 0.98 * parameter_bytes AND 1.02 * parameter_bytes
            THEN 'every gradient once per step'
        WHEN gradient_bytes > 1.02 * parameter_bytes
            THEN 'more than the gradients: sent more than once per step, in a wider type, or other tensors too'
        ELSE 'less than the gradients: divided over ranks, compressed, or not sent in every step' END AS verdict
FROM sized
ORDER BY rank
