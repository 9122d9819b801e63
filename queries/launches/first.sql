-- title = "Before the first kernel"
-- doc = """From the first recorded activity of the host to the start of the first kernel, and how much of that
-- compiles, links or loads code (nested calls counted once). Run-time compilation, creating the device context and
-- loading data show up here. It is outside any step, so it has no share of one."""
-- cannot = "No kernel of a device, or nothing of the host is recorded before the first one."
-- leave_out = ["compile_calls", "longest_ns"]
-- kernels = ["longest_name"]
-- [columns]
-- rank = "process of the job"
-- gap_ns = "from the first thing on the host to the first kernel"
-- recording_pct = "of the time from the first to the last thing recorded"
-- compile_ns = "of it in calls that compile, link or load code"
-- compile_calls = "these calls"
-- compile_pct = "of the gap"
-- longest_name = "longest recorded call that began and ended in the gap, operators included"
-- longest_ns = "its duration"
-- [headings]
-- recording_pct = "of recording"
-- compile_pct = "compiling, of gap"
WITH host AS (
    SELECT rank, name, start_ns, start_ns + dur_ns AS end_ns FROM raw.api_calls
    UNION ALL
    SELECT rank, name, start_ns, start_ns + dur_ns FROM raw.ops
), device AS (
    SELECT rank, min(start_ns) AS first_ns, max(end_ns) AS last_ns FROM kernels GROUP BY rank
), span AS (
    SELECT h.rank, min(h.start_ns) AS from_ns, any_value(d.first_ns) AS first_ns,
        greatest(max(h.end_ns), any_value(d.last_ns)) AS last_ns
    FROM host h JOIN device d USING (rank) GROUP BY h.rank HAVING min(h.start_ns) < any_value(d.first_ns)
), compiled AS (
    SELECT c.rank, least(c.end_ns, s.first_ns) AS end_ns, greatest(c.start_ns, coalesce(max(c.end_ns) OVER (
        PARTITION BY c.rank ORDER BY c.start_ns, c.end_ns DESC, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        c.start_ns)) AS from_ns
    FROM compilations c JOIN span s ON s.rank = c.rank AND c.start_ns < s.first_ns
), compiling AS (
    SELECT rank, sum(greatest(end_ns - from_ns, 0)) AS own_ns, count(*) AS calls FROM compiled GROUP BY rank
), longest AS (
    SELECT h.rank, arg_max(h.name, (h.end_ns - h.start_ns, h.name)) AS name, max(h.end_ns - h.start_ns) AS dur_ns
    FROM host h JOIN span s ON s.rank = h.rank AND h.end_ns <= s.first_ns GROUP BY h.rank
)
SELECT s.rank, s.first_ns - s.from_ns AS gap_ns,
    100.0 * (s.first_ns - s.from_ns) / (s.last_ns - s.from_ns) AS recording_pct,
    CAST(coalesce(c.own_ns, 0) AS BIGINT) AS compile_ns, coalesce(c.calls, 0) AS compile_calls,
    100.0 * coalesce(c.own_ns, 0) / (s.first_ns - s.from_ns) AS compile_pct,
    l.name AS longest_name, l.dur_ns AS longest_ns
FROM span s LEFT JOIN compiling c USING (rank) LEFT JOIN longest l USING (rank)
ORDER BY s.rank
