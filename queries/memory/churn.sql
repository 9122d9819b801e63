-- title = "Allocated and released most often"
-- doc = """Operators by their allocations that are released again while it is recorded. The allocator's time is that of
-- operators that do nothing but allocate (`aten::empty` and its kind), on the host."""
-- cannot = "No allocations of a framework were recorded."
-- leave_out = ["line", "layers", "median_bytes", "phase"]
-- top = 15
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- op = "operator that allocates"
-- phase = "its phase"
-- line = "line of the user's own code"
-- layers = "layers that it works for"
-- pieces = "allocations {per step|in the recording}"
-- size_bytes = "bytes {per step|in the recording}"
-- median_bytes = "bytes of one, median"
-- alive_ns = "time from allocation to release, median"
-- allocator_ns = "in operators that only allocate, {per step|in the recording}"
WITH n AS (
    SELECT rank, greatest(1, count(DISTINCT step)) AS n_steps, count(step) > 0 AS has_steps
    FROM allocations GROUP BY rank
), lone AS (
    SELECT a.id, o.self_ns / count(*) OVER (PARTITION BY o.id) AS own_ns
    FROM raw.allocations a JOIN raw.ops o ON o.id = a.op_id
    WHERE regexp_matches(o.name, '^aten::(new_)?(empty|resize)')
)
SELECT a.rank, a.device, a.op_name AS op, a.phase, a.file || ':' || CAST(a.line AS VARCHAR) AS line,
    count(DISTINCT a.layer) AS layers, count(*) / any_value(n.n_steps) AS pieces,
    sum(a.size_bytes) / any_value(n.n_steps) AS size_bytes,
    CAST(median(a.size_bytes) AS BIGINT) AS median_bytes,
    CAST(median(a.freed_ns - a.allocated_ns) AS BIGINT) AS alive_ns,
    sum(r.own_ns) / any_value(n.n_steps) AS allocator_ns
FROM allocations a
JOIN n ON n.rank = a.rank
LEFT JOIN lone r ON r.id = a.id
WHERE a.freed_ns IS NOT NULL AND a.allocated_ns IS NOT NULL AND (a.step IS NOT NULL OR NOT n.has_steps)
GROUP BY ALL
ORDER BY rank, device, pieces DESC, size_bytes DESC, op, phase, line
