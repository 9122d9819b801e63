-- doc = "Ranks whose bytes by direction of copy do not add up to all: a copy has no direction that reports know."
-- [columns]
-- directions_bytes = "sum over HtoD, DtoH, DtoD, PtoP, HtoH and memset"
-- all_bytes = "sum over all copies"
-- n_others = "copies of another direction, or of none"
SELECT rank, coalesce(sum(size_bytes) FILTER (is_known), 0) AS directions_bytes,
    coalesce(sum(size_bytes), 0) AS all_bytes, count(*) FILTER (NOT is_known) AS n_others
FROM (
    SELECT *, coalesce(direction IN ('HtoD', 'DtoH', 'DtoD', 'PtoP', 'HtoH', 'memset'), false) AS is_known FROM memcpys
)
GROUP BY rank
HAVING directions_bytes IS DISTINCT FROM all_bytes
ORDER BY rank
