-- title = "By name"
-- doc = "Ranges lie inside each other and overlap: their times are no shares of anything. Busy is the union of everything the devices of the rank did while the range was open, whoever caused it."
-- cannot = "The program named no ranges of its own in this trace (NVTX, record_function)."
-- [columns]
-- rank = "process of the job"
-- kind = "nvtx, user (an annotation of the framework's profiler) or library (a call of cuDNN or cuBLAS)"
-- domain = "NVTX domain or library"
-- name = "name, as recorded"
-- calls = "times it was opened"
-- total_ns = "time that it was open, calls added up"
-- mean_ns = "of a call"
-- max_ns = "of a call"
-- busy_ns = "at least one device of the rank busy; nothing where the trace holds no device's work"
-- busy_pct = "of the total"
WITH piece AS (
    SELECT rank, from_ns, end_ns, coalesce(sum(end_ns - from_ns) OVER (
        PARTITION BY rank ORDER BY from_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
    FROM (SELECT rank, greatest(start_ns, coalesce(rank_until_ns, start_ns)) AS from_ns, end_ns FROM activities)
    WHERE end_ns > from_ns
), span AS (
    SELECT id, rank, kind, domain, name, start_ns, start_ns + dur_ns AS end_ns, dur_ns
    FROM raw.ranges WHERE kind IN ('nvtx', 'user', 'library')
), busy_until AS (
    SELECT e.id, e.sign * (p.before_ns + least(e.at_ns, p.end_ns) - p.from_ns) AS busy_ns
    FROM (SELECT id, rank, start_ns AS at_ns, -1 AS sign FROM span UNION ALL SELECT id, rank, end_ns, 1 FROM span) e
    ASOF JOIN piece p ON e.rank = p.rank AND e.at_ns >= p.from_ns
), busy_in AS (
    SELECT s.id, coalesce(sum(b.busy_ns), 0) AS busy_ns
    FROM span s LEFT JOIN busy_until b USING (id) WHERE s.rank IN (SELECT rank FROM piece) GROUP BY s.id
)
SELECT rank, kind, domain, name, count(*) AS calls, CAST(sum(dur_ns) AS BIGINT) AS total_ns, avg(dur_ns) AS mean_ns,
    max(dur_ns) AS max_ns, CAST(sum(b.busy_ns) AS BIGINT) AS busy_ns,
    100.0 * sum(b.busy_ns) / nullif(sum(dur_ns), 0) AS busy_pct
FROM span LEFT JOIN busy_in b USING (id)
GROUP BY rank, kind, domain, name
ORDER BY rank, total_ns DESC, kind, domain, name
