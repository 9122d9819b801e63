-- title = "Algorithms that were tried, and that were not"
-- doc = """Every algorithm of cuDNN by direction: which layers admit it, and whether it ran in this recording, in a
-- search or since. "Never tried": no kernel of the recording belongs to it. A search before the recording leaves no
-- trace."""
-- cannot = "No kernel of a convolution whose algorithm is known ran on a device in this trace."
-- leave_out = ["kernels", "layers", "used"]
-- [columns]
-- direction = "fprop, dgrad or wgrad; empty where unknown"
-- algorithm = "see docs/vocabulary.md"
-- layers = "layers with this direction; empty without their shapes, or where the library is not cuDNN"
-- admitting = "of them those whose shape, stride and type admit it"
-- used = "calls {per step and rank|over the whole recording, per rank} that used it"
-- kernels = "its kernels in the whole recording, a search among them"
-- verdict = """used, tried and lost, never tried though admissible, not admissible, or ran where nothing says what is
-- admissible"""
-- reason = "where no layer admits it, why not"
-- [fractions]
-- used = "used{/step| (mean)}"
WITH judged AS (
    SELECT a.direction, a.algorithm, count(DISTINCT c.layer) AS layers,
        count(DISTINCT c.layer) FILTER (a.is_admissible) AS admitting,
        coalesce(sum(1.0 / c.per_rank) FILTER (a.is_used), 0) AS used,
        min(array_to_string(a.reasons, '; ')) FILTER (NOT a.is_admissible) AS reason
    FROM counted_conv_calls c JOIN conv_admissible a USING (op_id, direction) GROUP BY a.direction, a.algorithm
), seen AS (
    SELECT coalesce(t.direction, c.direction) AS direction, t.algorithm, count(*) AS kernels,
        bool_and(t.last_iteration <= 1 AND t.n_iterations >= 3) AS is_gone
    FROM conv_trials t LEFT JOIN conv_calls c ON c.op_id = t.call_id AND t.direction IS NULL
    WHERE t.algorithm IS NOT NULL GROUP BY ALL
)
SELECT coalesce(j.direction, s.direction) AS direction, coalesce(j.algorithm, s.algorithm) AS algorithm, j.layers,
    j.admitting, j.used, coalesce(s.kernels, 0) AS kernels,
    CASE WHEN j.algorithm IS NULL AND s.is_gone THEN 'tried and lost'
        WHEN j.algorithm IS NULL THEN 'ran; which layers admit it is not known' WHEN j.used > 0 THEN 'used'
        WHEN s.kernels > 0 THEN 'tried and lost'
        WHEN j.admitting > 0 THEN 'never tried though admissible' ELSE 'not admissible' END AS verdict,
    if(j.admitting = 0, j.reason, NULL) AS reason
FROM judged j FULL JOIN seen s
    ON s.direction IS NOT DISTINCT FROM j.direction AND s.algorithm = j.algorithm
ORDER BY list_position(['fprop', 'dgrad', 'wgrad'], coalesce(j.direction, s.direction)), used DESC,
    kernels DESC, admitting DESC, algorithm
