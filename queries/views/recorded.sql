-- doc = "Per rank, how much was recorded of what."
-- materialize = true
-- [columns]
-- has_device = "whether the device of any of its work is known; else all of it is of one"
-- kernels = "kernels"
-- memcpys = "memory copies and memsets"
-- primitives = "primitives of CPU libraries"
-- ops = "operators"
SELECT r.rank, coalesce(k.n, 0) AS kernels, coalesce(m.n, 0) AS memcpys, coalesce(p.n, 0) AS primitives,
    coalesce(o.n, 0) AS ops, coalesce(k.n_placed, 0) + coalesce(m.n_placed, 0) > 0 AS has_device
FROM (SELECT DISTINCT rank FROM raw.ranks) r
LEFT JOIN (SELECT rank, count(*) AS n, count(device) AS n_placed FROM raw.kernels GROUP BY rank) k USING (rank)
LEFT JOIN (SELECT rank, count(*) AS n, count(device) AS n_placed FROM raw.memcpys GROUP BY rank) m USING (rank)
LEFT JOIN (SELECT rank, count(*) AS n FROM raw.primitives GROUP BY rank) p USING (rank)
LEFT JOIN (SELECT rank, count(*) AS n FROM raw.ops GROUP BY rank) o USING (rank)
