-- doc = """Extra time of the last rank of a matched collective over the others, between its collective before and this
-- one: that of each category of work (overlaps counted once, for what started first), and of the rest loading data and
-- the host."""
-- [columns]
-- match_id = "the collective"
-- rank = "the last rank"
-- part = "category of work, data loading, or host (nothing ran on a device)"
-- spent_ns = "what it spent on that"
-- excess_ns = "more than the median of the other ranks"
WITH told AS (
    SELECT match_id FROM rank_waits WHERE is_last
), call AS (
    SELECT id, match_id, rank, is_last, start_ns + moved_ns AS until_ns, max(end_ns + moved_ns) OVER (
        PARTITION BY rank ORDER BY start_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM rank_waits
), span AS (
    SELECT c.*, least(coalesce(c.before_ns, s.start_ns, o.first_ns), c.until_ns) AS from_ns
    FROM call c SEMI JOIN told t ON t.match_id = c.match_id JOIN scope o ON o.rank = c.rank
    ASOF LEFT JOIN step_times s ON s.rank = c.rank AND c.until_ns >= s.start_ns
), piece AS (
    SELECT rank, category AS part, end_ns - rank_alone_ns AS start_ns, rank_alone_ns AS dur_ns
    FROM busy WHERE rank_alone_ns > 0 AND category <> 'communication' AND rank IN (SELECT rank FROM rank_waits)
    UNION ALL
    SELECT rank, 'data loading', start_ns, dur_ns FROM raw.ranges
    WHERE kind = 'phase' AND name = 'data' AND depth = 0 AND rank IN (SELECT rank FROM rank_waits)
), summed AS (
    SELECT rank, part, start_ns, dur_ns, sum(dur_ns) OVER (PARTITION BY rank, part ORDER BY start_ns
        ROWS UNBOUNDED PRECEDING) - dur_ns AS before_ns
    FROM piece
), moment AS (
    SELECT s.match_id, s.rank, s.is_last, s.from_ns, s.until_ns, p.part
    FROM span s CROSS JOIN (SELECT DISTINCT part FROM piece) p
), spent AS (
    SELECT m.*, coalesce(z.before_ns + least(m.until_ns - z.start_ns, z.dur_ns), 0)
        - coalesce(a.before_ns + least(m.from_ns - a.start_ns, a.dur_ns), 0) AS part_ns
    FROM moment m
    ASOF LEFT JOIN summed a ON a.rank = m.rank AND a.part = m.part AND m.from_ns >= a.start_ns
    ASOF LEFT JOIN summed z ON z.rank = m.rank AND z.part = m.part AND m.until_ns >= z.start_ns
), whole AS (
    SELECT s.match_id, s.rank, s.is_last, greatest(s.until_ns - s.from_ns
        - coalesce(sum(p.part_ns) FILTER (p.part <> 'data loading'), 0), 0) AS idle_ns,
        coalesce(sum(p.part_ns) FILTER (p.part = 'data loading'), 0) AS data_ns
    FROM span s LEFT JOIN spent p ON p.match_id = s.match_id AND p.rank = s.rank
    GROUP BY s.match_id, s.rank, s.is_last, s.until_ns, s.from_ns
), every AS (
    SELECT match_id, rank, is_last, part, part_ns FROM spent WHERE part <> 'data loading'
    UNION ALL
    SELECT match_id, rank, is_last, 'data loading', least(data_ns, idle_ns) FROM whole
    UNION ALL
    SELECT match_id, rank, is_last, 'host', idle_ns - least(data_ns, idle_ns) FROM whole
)
SELECT match_id, max(rank) FILTER (is_last) AS rank, part, CAST(max(part_ns) FILTER (is_last) AS BIGINT) AS spent_ns,
    CAST(max(part_ns) FILTER (is_last) - median(part_ns) FILTER (NOT is_last) AS BIGINT) AS excess_ns
FROM every
GROUP BY match_id, part
