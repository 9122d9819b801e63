-- title = "Ranges in order, each kind on a thread as a line of its own"
-- doc = """Ranges nest within their line. PyTorch's own frames of modules are one beside the collector's ranges of the
-- same calls."""
WITH range AS (
    SELECT id, pid, tid, start_ns, dur_ns,
        if(kind = 'module' AND domain IS NOT DISTINCT FROM 'nn.Module', 'nn.Module', kind) AS kind
    FROM stage.ranges
), lines AS (
    SELECT kind, pid, tid, row_number() OVER (ORDER BY kind, pid, tid) AS line
    FROM (SELECT DISTINCT kind, pid, tid FROM range)
)
SELECT id, line, start_ns, start_ns + dur_ns AS end_ns
FROM range r JOIN lines l
    ON r.kind IS NOT DISTINCT FROM l.kind AND r.pid IS NOT DISTINCT FROM l.pid AND r.tid IS NOT DISTINCT FROM l.tid
ORDER BY line, start_ns, end_ns DESC, id
