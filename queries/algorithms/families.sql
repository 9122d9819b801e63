-- title = "Tried, and never tried"
-- doc = """Every algorithm of cuDNN by direction: which layers admit it, and whether it ran in this recording, in a
-- search or since. What no kernel of the recording belongs to was never tried here; a search before the recording
-- leaves no trace."""
-- cannot = """No convolution on a device of NVIDIA with recorded shapes and stride in this trace; the conditions are
-- those of cuDNN."""
-- [columns]
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "see docs/vocabulary.md"
-- layers = "layers with this direction"
-- admitting = "of them those whose shape, stride and type admit it"
-- used = "calls per step and rank that used it"
-- kernels = "its kernels in the whole recording, a search among them"
-- verdict = "used, tried and lost, never tried though admissible, or not admissible"
-- reason = "where no layer admits it, why not"
WITH judged AS (
    SELECT a.direction, a.algorithm, count(DISTINCT c.layer) AS layers,
        count(DISTINCT c.layer) FILTER (a.is_admissible) AS admitting,
        coalesce(sum(1.0 / c.per_rank) FILTER (a.is_used), 0) AS used,
        min(array_to_string(a.reasons, '; ')) FILTER (NOT a.is_admissible) AS reason
    FROM counted_conv_calls c JOIN conv_admissible a USING (op_id, direction) GROUP BY a.direction, a.algorithm
), seen AS (
    SELECT c.direction, t.algorithm, count(*) AS kernels
    FROM conv_trials t JOIN conv_calls c ON c.op_id = t.call_id AND c.direction = coalesce(t.direction, c.direction)
    WHERE t.algorithm IS NOT NULL GROUP BY c.direction, t.algorithm
)
SELECT j.direction, j.algorithm, j.layers, j.admitting, j.used, coalesce(s.kernels, 0) AS kernels,
    CASE WHEN j.used > 0 THEN 'used' WHEN s.kernels > 0 THEN 'tried and lost'
        WHEN j.admitting > 0 THEN 'never tried though admissible' ELSE 'not admissible' END AS verdict,
    if(j.admitting = 0, j.reason, NULL) AS reason
FROM judged j LEFT JOIN seen s USING (direction, algorithm)
ORDER BY list_position(['fprop', 'dgrad', 'wgrad'], j.direction), j.used DESC, kernels DESC, j.admitting DESC,
    j.algorithm
