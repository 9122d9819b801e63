-- title = "Ranges of one kind by thread, in order of time"
-- doc = """Ranges that an operator or a call may lie inside of: modules, phases, NVTX, calls of a library. Where the
-- collector named modules, PyTorch's own frames of their calls do not count."""
-- [params]
-- kind = { type = "VARCHAR", doc = "the kind of range" }
-- of_processes = { type = "BOOLEAN", doc = "whether to take ranges without a thread too", default = true }
SELECT r.id, t.thread, r.start_ns, r.start_ns + r.dur_ns AS end_ns
FROM stage.ranges r JOIN thread t ON r.pid IS NOT DISTINCT FROM t.pid AND r.tid IS NOT DISTINCT FROM t.tid
WHERE r.kind = $kind AND (r.tid IS NOT NULL OR $of_processes)
    AND ($kind <> 'module' OR r.domain IS DISTINCT FROM 'nn.Module'
        OR NOT EXISTS (FROM stage.ranges WHERE kind = 'module' AND domain IS DISTINCT FROM 'nn.Module'))
ORDER BY t.thread, r.start_ns, end_ns DESC, r.id
