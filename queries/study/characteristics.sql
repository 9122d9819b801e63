-- title = "Each algorithm in a line"
-- doc = """Generated from what was timed: where it wins, how far behind it is elsewhere, what memory it takes, and
-- why it cannot be used where it cannot."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = ["setting", "largest_error_ppm", "cannot_problems", "median_ratio"]
-- [columns]
-- algorithm = "see docs/vocabulary.md"
-- problems = "problems (shape, batch and direction; both gradients as one time are a direction) for which it was timed"
-- wins = "of those with another one: where it was the fastest, and its interval reaches that of no other"
-- wins_at = "filters, strides and batches of these"
-- median_ratio = "time over that of the fastest, median"
-- median_workspace_bytes = "memory beside the tensors, where it is known"
-- largest_workspace_bytes = "the largest"
-- largest_error_ppm = "largest error over largest value, against double precision, in millionths"
-- cannot_problems = "problems for which a back-end says that it cannot, and no other one has a time of it"
-- reasons = "why, the most frequent first"
-- setting = "device, threads and type"
WITH shape AS (
    SELECT DISTINCT ON (setting, problem) setting, problem, filter_height, filter_width, stride_h FROM algorithm_times
    ORDER BY setting, problem, number
), won AS (
    SELECT b.setting, b.contender, list_sort(list_distinct(list(concat(s.filter_height, 'x', s.filter_width,
        if(s.stride_h > 1, ' s' || s.stride_h, ''))))) AS filters, min(b.batch) AS low, max(b.batch) AS high,
        list_sort(list_distinct(list(b.direction))) AS directions
    FROM algorithm_best b JOIN shape s ON s.setting IS NOT DISTINCT FROM b.setting AND s.problem = b.problem
    WHERE b.is_ahead GROUP BY b.setting, b.contender
), best AS (
    SELECT setting, contender, count(*) AS problems, count(*) FILTER (is_ahead) AS wins,
        median(ratio) FILTER (algorithms >= 2) AS median_ratio, median(workspace_bytes) AS median_workspace_bytes,
        max(workspace_bytes) AS largest_workspace_bytes, 1e6 * max(error) AS largest_error_ppm
    FROM algorithm_best GROUP BY setting, contender
), barred AS (
    -- What one library cannot and another can is not a property of the algorithm.
    SELECT t.setting, t.contender, t.problem, t.batch, t.direction, t.reason
    FROM algorithm_times t ANTI JOIN algorithm_best b ON b.setting IS NOT DISTINCT FROM t.setting
        AND b.contender = t.contender AND b.problem = t.problem AND b.batch IS NOT DISTINCT FROM t.batch
        AND b.direction = t.direction
    WHERE t.status IN ('cannot', 'failed', 'wrong')
), reason AS (
    SELECT setting, contender, reason, count(DISTINCT (problem, batch, direction)) AS n FROM barred GROUP BY ALL
), told AS (
    SELECT setting, contender, array_to_string(list(reason ORDER BY n DESC, reason)[:3], '; ') AS reasons
    FROM reason GROUP BY setting, contender
), reasons AS (
    SELECT b.setting, b.contender, count(DISTINCT (b.problem, b.batch, b.direction)) AS n,
        any_value(t.reasons) AS reasons
    FROM barred b JOIN told t ON t.setting IS NOT DISTINCT FROM b.setting AND t.contender = b.contender
    GROUP BY b.setting, b.contender
)
SELECT contender AS algorithm, coalesce(b.problems, 0) AS problems, coalesce(b.wins, 0) AS wins,
    if(w.low IS NULL, NULL, concat(array_to_string(w.filters[:6], ', '), if(len(w.filters) > 6, ' ...', ''), '; batch ',
        w.low, if(w.high > w.low, ' to ' || w.high, ''), '; ', array_to_string(w.directions, ', '))) AS wins_at,
    b.median_ratio, b.median_workspace_bytes, b.largest_workspace_bytes, b.largest_error_ppm,
    coalesce(r.n, 0) AS cannot_problems, r.reasons, setting
FROM best b FULL JOIN reasons r USING (setting, contender) LEFT JOIN won w USING (setting, contender)
ORDER BY setting, wins DESC, problems DESC, algorithm
