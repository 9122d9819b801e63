-- doc = """Times of each rank on the clock of the lowest one that it can be compared with. Collectives of a group move
-- its ranks onto the clock of the group's lowest; so on from group to group."""
-- empty_without = ["rank_waits"]
-- types = """rank INTEGER, moved_ns BIGINT"""
-- [columns]
-- moved_ns = "what is taken from the rank's times"
WITH RECURSIVE grouped AS (
    SELECT rank, team, median(moved_ns) AS moved_ns, min(rank) OVER (PARTITION BY team) AS reference
    FROM rank_waits GROUP BY rank, team
), led AS (
    SELECT rank, reference, moved_ns FROM grouped WHERE reference < rank
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY reference, team) = 1
), clock AS (
    SELECT DISTINCT rank, CAST(0 AS DOUBLE) AS moved_ns FROM grouped WHERE rank NOT IN (SELECT rank FROM led)
    UNION ALL
    SELECT l.rank, c.moved_ns + l.moved_ns FROM clock c JOIN led l ON l.reference = c.rank
)
SELECT rank, CAST(moved_ns AS BIGINT) AS moved_ns FROM clock
