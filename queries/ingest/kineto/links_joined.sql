-- title = "Kineto: flows with both ends"
-- doc = """One row per flow; an end that was never recorded stays NULL, and so does that of an end whose flow has no
-- number or that of another flow. Flows from a launch to its kernel are left out: their number is the correlation,
-- which both rows have."""
SELECT
    min(id) AS id, kind, flow,
    min(source_ns) AS source_ns, any_value(source_pid) AS source_pid, any_value(source_tid) AS source_tid,
    min(target_ns) AS target_ns, any_value(target_pid) AS target_pid, any_value(target_tid) AS target_tid
FROM (
    SELECT *, flow IS NULL OR count(source_ns) OVER alike > 1 OR count(target_ns) OVER alike > 1 AS is_lonely
    FROM stage.links
    WHERE kind <> 'launch'
    WINDOW alike AS (PARTITION BY kind, flow)
)
GROUP BY kind, flow, CASE WHEN is_lonely THEN id END
