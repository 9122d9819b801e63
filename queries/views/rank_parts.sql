-- doc = """Time per step of each rank by part: categories of work on its devices but communication, data loading while
-- they did nothing, and host, which is the rest of that; and how much more it is than the median of its peers, the
-- other ranks that do the same kind and amount of work. The last two are not told where the idle time of any is not
-- known."""
-- materialize = true
-- whole_job = true
-- [columns]
-- peer_group = "what ranks that do the same work share"
-- part = "category of work, data loading, or host (nothing ran on a device)"
-- part_ns = "per step; of work the sum of its durations"
-- n_peers = "other ranks of the peer group"
-- excess_ns = "more than the median of the peers; NULL without peers"
WITH work AS (
    -- Whole durations: what runs beside a collective is not less work for that.
    SELECT rank, category AS part, sum(total_ns / per) AS part_ns, sum(n / per) AS n FROM totals
    WHERE is_counted AND category <> 'communication' GROUP BY rank, category
), loaded AS (
    SELECT d.rank, sum(least(d.start_ns + d.dur_ns, s.end_ns) - d.start_ns) / any_value(c.per) AS data_ns
    FROM awaited_data d ASOF JOIN step_times s ON s.rank = d.rank AND d.start_ns >= s.start_ns
    JOIN (SELECT rank, greatest(n_steps, 1) AS per FROM scope) c ON c.rank = d.rank
    WHERE d.start_ns < s.end_ns AND NOT s.is_warmup
    GROUP BY d.rank
), idle AS (
    SELECT a.rank, sum(a.idle_ns) AS idle_ns, least(coalesce(any_value(l.data_ns), 0), sum(a.idle_ns)) AS data_ns
    FROM account a LEFT JOIN loaded l ON l.rank = a.rank
    WHERE NOT EXISTS (FROM account WHERE idle_ns IS NULL) GROUP BY a.rank
), made AS (
    SELECT rank, part, part_ns FROM work
    UNION ALL SELECT rank, 'data loading', data_ns FROM idle
    UNION ALL SELECT rank, 'host', idle_ns - data_ns FROM idle
), kinds AS (
    SELECT rank, sum(n) AS n, arg_max(part, [part_ns, n]) AS main FROM work GROUP BY rank
), peers AS (
    -- As many kernels or operators as the median of those with the same main category, within a fifth.
    SELECT rank, format('{} {}', main, CAST(round(ln(n / median(n) OVER (PARTITION BY main)) / ln(1.5)) AS BIGINT))
        AS peer_group
    FROM kinds
), every AS (
    SELECT p.rank, p.peer_group, d.part, coalesce(m.part_ns, 0) AS part_ns
    FROM peers p CROSS JOIN (SELECT DISTINCT part FROM made) d
    LEFT JOIN made m ON m.rank = p.rank AND m.part = d.part
), sorted AS (
    SELECT *, count(*) OVER one AS n, row_number() OVER (PARTITION BY peer_group, part ORDER BY part_ns, rank) AS place
    FROM every WINDOW one AS (PARTITION BY peer_group, part)
), middle AS (
    -- The median of the others lies in the middle of all, one place further where the rank itself stands before it.
    SELECT *, n // 2 AS lower, (n - 1) // 2 + 1 AS upper,
        max(part_ns) FILTER (place = n // 2) OVER one AS lower_ns,
        max(part_ns) FILTER (place = n // 2 + 1) OVER one AS after_lower_ns,
        max(part_ns) FILTER (place = (n - 1) // 2 + 1) OVER one AS upper_ns,
        max(part_ns) FILTER (place = (n - 1) // 2 + 2) OVER one AS after_upper_ns
    FROM sorted WINDOW one AS (PARTITION BY peer_group, part)
)
SELECT rank, peer_group, part, part_ns, n - 1 AS n_peers,
    CASE WHEN n > 1 THEN part_ns - (if(place <= lower, after_lower_ns, lower_ns)
        + if(place <= upper, after_upper_ns, upper_ns)) / 2 END AS excess_ns
FROM middle
