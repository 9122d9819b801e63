-- title = "By dimension of parallelism"
-- doc = """How the work is divided over the ranks of each process group: by the name that the program gave it, else by
-- what its ranks exchange, where several ranks are at hand. Means of the ranks that use it, {per step|in the
-- recording}; what runs at the same time counts once, for what began first."""
-- cannot = "No communication in this trace."
-- optional = true
-- leave_out = ["known_by", "kinds", "calls"]
-- [columns]
-- dimension = """data, sharded data, tensor, pipeline, expert, context, or layers where one group exchanges theirs and
-- gradients; (not known) where nothing tells"""
-- known_by = "the name of the group, or what it exchanges"
-- ranks = "ranks that take part in one of its groups"
-- kinds = "what they exchange"
-- calls = "of a rank"
-- size_bytes = "bytes of the inputs of a rank, where recorded"
-- busy_ns = "time in which some of it was under way"
-- exposed_ns = "of it while nothing computed on the same rank"
-- hidden_pct = "of it, while the same rank computed"
-- step_pct = "exposed, of {the step|the recording}"
-- [headings]
-- hidden_pct = "hidden of busy"
-- step_pct = "exposed of step"
WITH call AS (
    SELECT m.*, g.known_by, CASE WHEN g.dimension IS NOT NULL THEN g.dimension
        -- One group for everything: its all-to-all is of layers, gradients are added up over the others.
        WHEN m.what = 'all_to_all' THEN 'layers (experts, embedding tables)'
        WHEN g.verdict LIKE 'all-to-all%' AND m.what IN ('all_reduce', 'reduce_scatter') AND g.same_pct >= 70
            THEN 'data' END AS told
    FROM matched_calls m LEFT JOIN process_groups g ON g.team = m.team
    WHERE m.is_counted
), own AS (
    SELECT coalesce(told, '(not known)') AS dimension, coalesce(any_value(known_by),
            if(told IS NULL, NULL, 'what it exchanges')) AS known_by, rank, max(n_expected) AS n_expected,
        list(DISTINCT what) AS whats, count(*) / any_value(per) AS calls, sum(size_bytes / per) AS size_bytes,
        sum(step_own_ns / per) AS busy_ns, sum(step_exposed_ns / per) AS exposed_ns, any_value(step_ns) AS step_ns
    FROM call GROUP BY told, rank
)
SELECT dimension, any_value(known_by) AS known_by, max(n_expected) AS ranks,
    array_to_string(list_sort(list_distinct(flatten(list(whats)))), ', ') AS kinds, avg(calls) AS calls,
    CAST(avg(size_bytes) AS BIGINT) AS size_bytes, CAST(avg(busy_ns) AS BIGINT) AS busy_ns,
    CAST(avg(exposed_ns) AS BIGINT) AS exposed_ns,
    100.0 - 100.0 * sum(exposed_ns) / nullif(sum(busy_ns), 0) AS hidden_pct,
    100.0 * avg(exposed_ns) / nullif(avg(step_ns), 0) AS step_pct
FROM own
GROUP BY dimension
ORDER BY busy_ns DESC, dimension
