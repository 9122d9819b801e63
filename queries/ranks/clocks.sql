-- title = "Clocks"
-- doc = """How the ranks' clocks were aligned, by process group: ranks of one host share a clock, others are shifted so
-- that collectives end together. The error is the difference that remains. Of more than 16 ranks the eight that were
-- shifted furthest."""
-- cannot = "No collective could be matched across ranks."
-- leave_out = ["group_name"]
-- [columns]
-- rank = "process of the job"
-- group_name = "process group, where recorded"
-- clock = "one host, as recorded, or aligned by the ends of collectives"
-- collectives = "matched collectives that it rests on"
-- moved_ns = "median of what is taken from its times"
-- drift_ns = "between the smallest and the largest such move"
-- error_ns = "half of the range of 80 % of what then still differs; empty with fewer than three collectives"
WITH each AS (
    SELECT rank, group_name, team, any_value(clock) AS clock, count(*) AS collectives,
        CAST(median(moved_ns) AS BIGINT) AS moved_ns, max(moved_ns) - min(moved_ns) AS drift_ns,
        max(error_ns) AS error_ns, count(*) OVER (PARTITION BY team) AS n,
        row_number() OVER (PARTITION BY team ORDER BY abs(median(moved_ns)) DESC, max(error_ns) DESC NULLS LAST, rank)
            AS place
    FROM rank_waits GROUP BY rank, group_name, team
)
SELECT rank, group_name, clock, collectives, moved_ns, drift_ns, error_ns
FROM each WHERE n <= 16 OR place <= 8
ORDER BY team, rank
