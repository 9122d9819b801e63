-- title = "Ranges in order, each kind on a thread as a line of its own"
-- doc = "Ranges nest within their line."
WITH lines AS (
    SELECT kind, pid, tid, row_number() OVER (ORDER BY kind, pid, tid) AS line
    FROM (SELECT DISTINCT kind, pid, tid FROM stage.ranges)
)
SELECT id, line, start_ns, start_ns + dur_ns AS end_ns
FROM stage.ranges r JOIN lines l
    ON r.kind IS NOT DISTINCT FROM l.kind AND r.pid IS NOT DISTINCT FROM l.pid AND r.tid IS NOT DISTINCT FROM l.tid
ORDER BY line, start_ns, end_ns DESC, id
