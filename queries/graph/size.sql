-- title = "How many things take time in the chosen window"
-- doc = """One row per rank, the one to look at first before the others: that for which the others wait longest, then
-- the same of each process group, then the rest in that order. A lower limit: operators count once, whatever
-- runs inside them."""
-- [columns]
-- rank = "process of the job"
-- n = "kernels, copies, primitives, operators and calls of the runtime"
WITH span AS (
    SELECT rank, start_ns, dur_ns FROM raw.kernels
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.memcpys
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.api_calls
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.ops
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.primitives
), sized AS (
    SELECT w.rank, count(s.rank) AS n FROM critical_window w LEFT JOIN span s ON s.rank = w.rank
        AND s.start_ns < w.until_ns AND s.start_ns + s.dur_ns > w.from_ns
    GROUP BY w.rank
), waited AS (
    SELECT r.rank, m.team, sum(r.wait_ns) AS wait_ns
    FROM rank_waits r JOIN matched_calls m ON m.id = r.id WHERE r.is_counted GROUP BY r.rank, m.team
), own AS (
    SELECT rank, sum(wait_ns) AS wait_ns FROM waited GROUP BY rank
), placed AS (
    SELECT z.rank, z.n, o.wait_ns, row_number() OVER (ORDER BY o.wait_ns NULLS LAST, z.rank) = 1 AS is_first,
        z.rank IN (SELECT arg_min(rank, (wait_ns, rank)) FROM waited GROUP BY team) AS is_of_group
    FROM sized z LEFT JOIN own o ON o.rank = z.rank
)
SELECT rank, n FROM placed
ORDER BY is_first DESC, is_of_group DESC, wait_ns NULLS LAST, rank
