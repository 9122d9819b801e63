-- title = "Kineto: flows with both ends"
-- doc = """One row per flow; an end that was never recorded stays NULL. Flows from a launch to its kernel are left out:
-- their number is the correlation, which both rows have."""
SELECT
    min(id) AS id, kind, flow,
    min(source_ns) AS source_ns, any_value(source_pid) AS source_pid, any_value(source_tid) AS source_tid,
    min(target_ns) AS target_ns, any_value(target_pid) AS target_pid, any_value(target_tid) AS target_tid
FROM stage.links
WHERE kind <> 'launch'
GROUP BY kind, flow
