-- title = "What of each rank is exported"
-- doc = "One row per chosen rank; all of its time where no step is chosen."
-- [params]
-- rank = { type = "INTEGER", doc = "only this rank; every rank when left out" }
-- step = { type = "BIGINT", doc = "only what overlaps this step of its rank; everything when left out" }
-- [columns]
-- from_ns = "where the step begins; NULL where everything is exported"
-- until_ns = "where it ends"
SELECT r.rank, w.start_ns AS from_ns, w.end_ns AS until_ns
FROM (SELECT DISTINCT rank FROM captures) r
LEFT JOIN steps w ON w.rank = r.rank AND w.step = $step
WHERE ($rank IS NULL OR r.rank = $rank) AND ($step IS NULL OR w.step IS NOT NULL)
