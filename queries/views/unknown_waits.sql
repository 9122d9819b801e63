-- doc = """Ranks of whose counted communication it is not known how much is waiting: a member of a group has no trace,
-- less than half of the collectives are in steps that have all of theirs matched on all ranks, or most of the time that
-- no computing hides is in calls that are not matched, as sends and receives."""
-- whole_job = true
-- [columns]
-- told = "why, in words"
-- is_apart = "whether no more than the last of these is the reason: of matched calls it is known"
WITH call AS (
    SELECT m.rank, count(*) FILTER (m.is_together) AS n, count(w.id) AS n_known,
        2 * sum(m.step_exposed_ns) FILTER (NOT m.is_together) > sum(m.step_exposed_ns) AS is_apart,
        string_agg(DISTINCT m.what, ', ' ORDER BY m.what) FILTER (NOT m.is_together) AS apart,
        bool_or(m.is_complete IS NOT TRUE) AS is_lacking
    FROM matched_calls m LEFT JOIN complete_waits w ON w.rank = m.rank AND w.id = m.id
    WHERE m.is_counted GROUP BY m.rank
), judged AS (
    SELECT c.*, coalesce(if(is_lacking, m.told, NULL), if(2 * n_known < n, format('{} of {} collectives of rank {} {} '
        || 'in no step whose collectives are matched on all ranks', n - n_known, n, rank,
        if(n - n_known = 1, 'is', 'are')), NULL)) AS lacking
    FROM call c CROSS JOIN (SELECT any_value(told) AS told FROM missing_ranks) m
)
SELECT rank, coalesce(lacking, format('most of the exposed communication time of rank {} is in {}, of which no call is '
    || 'matched across ranks', rank, apart)) AS told, lacking IS NULL AS is_apart
FROM judged WHERE (lacking IS NOT NULL OR is_apart) AND (SELECT count(*) FROM raw.ranks) > 1
