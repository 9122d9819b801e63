-- title = "What of each rank is exported"
-- doc = "One row per chosen rank; all of its time where no steps are chosen."
-- [params]
-- rank = { type = "INTEGER", doc = "only this rank; every rank when left out" }
-- step = { type = "BIGINT", doc = "only what overlaps steps of its rank from this one; everything when left out" }
-- last = { type = "BIGINT", doc = "until this one" }
-- [columns]
-- from_ns = "where the steps begin, by the rank's own clock; NULL where everything is exported"
-- until_ns = "where they end"
-- moved_ns = "what is taken from the rank's times, so that all ranks are on one clock"
SELECT r.rank, w.start_ns AS from_ns, w.end_ns AS until_ns, coalesce(c.moved_ns, 0) AS moved_ns
FROM (SELECT DISTINCT rank FROM captures) r LEFT JOIN rank_clocks c ON c.rank = r.rank
LEFT JOIN (
    SELECT rank, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM steps WHERE step BETWEEN $step AND $last
    GROUP BY rank
) w ON w.rank = r.rank
WHERE ($rank IS NULL OR r.rank = $rank) AND ($step IS NULL OR w.start_ns IS NOT NULL)
