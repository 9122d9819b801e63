-- doc = """Each step that counts of each rank: how long it computed, and how long it waited in collectives for their
-- last rank. Without steps the whole recording."""
-- materialize = true
-- whole_job = true
-- [columns]
-- step = "number of the step; 0 without steps"
-- compute_ns = "sum of the durations of all work but communication"
-- wait_ns = "waiting in collectives that all ranks of their group have; NULL where there are none"
SELECT coalesce(c.rank, w.rank) AS rank, coalesce(c.step, w.step) AS step, c.compute_ns, w.wait_ns
FROM (SELECT rank, coalesce(step, 0) AS step, CAST(sum(dur_ns) AS BIGINT) AS compute_ns
    FROM busy WHERE is_counted AND category <> 'communication' GROUP BY ALL) c
FULL JOIN (SELECT rank, coalesce(step, 0) AS step, CAST(sum(wait_ns) AS BIGINT) AS wait_ns
    FROM complete_waits GROUP BY ALL) w ON w.rank = c.rank AND w.step = c.step
