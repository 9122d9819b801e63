-- title = "Whether times of algorithms are of another device than a CPU, or published"
-- doc = "One row: of timed passes, how many there are, and how many were measured on a CPU."
-- [columns]
-- n = "timed passes"
-- n_here = "measured on a CPU, for which a plan can be made and proved"
SELECT count(*) AS n, count(*) FILTER (status = 'measured' AND device = 'cpu') AS n_here
FROM algorithm_times WHERE is_timed
