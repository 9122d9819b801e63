-- doc = """Marked loading of data that a step waits for: outermost phases of a thread that launches kernels, or on
-- which steps are marked. Other threads load ahead, and may copy to the device what they loaded. Where no thread is
-- known to do either, all phases count."""
-- [columns]
-- domain = "name of the mark, of a loader of PyTorch"
WITH thread AS (
    SELECT rank, pid, tid FROM raw.ranges WHERE kind = 'step' AND tid IS NOT NULL
    UNION
    SELECT a.rank, a.pid, a.tid FROM raw.api_calls a WHERE a.tid IS NOT NULL
        AND a.id IN (SELECT launch_id FROM raw.kernels)
)
SELECT r.id, r.rank, r.start_ns, r.dur_ns, r.step, r.domain FROM raw.ranges r
WHERE r.kind = 'phase' AND r.name = 'data' AND r.depth = 0 AND (r.tid IS NULL
    OR r.rank NOT IN (SELECT rank FROM thread)
    OR EXISTS (FROM thread t WHERE t.rank = r.rank AND t.pid IS NOT DISTINCT FROM r.pid AND t.tid = r.tid))
