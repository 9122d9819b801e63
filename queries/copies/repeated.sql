-- title = "The same copy in every step"
-- doc = """Copies with the same size, direction and operator in every step, warm-up excluded (at least two steps):
-- constants that could stay on the device, or the input."""
-- cannot = "No copy is repeated in every step, or the trace has fewer than two steps."
-- leave_out = ["steps", "step_bytes"]
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- size_bytes = "bytes of one copy"
-- operator = "operator that issued them"
-- steps = "steps that have it, over all ranks"
-- calls = "{per step|in the recording}"
-- step_bytes = "bytes {per step|in the recording}"
-- step_ns = "time {per step|in the recording}"
-- step_pct = "of the mean step time, warm-up excluded"
-- [headings]
-- step_pct = "of {step|recording}"
-- step_bytes = "{per step|in the recording}"
-- step_ns = "{per step|in the recording}"
-- [fractions]
-- calls = "calls{/step| (mean)}"
SELECT m.direction, m.size_bytes, coalesce(m.op_name, '(no operator)') AS operator,
    count(DISTINCT (m.rank, m.step)) AS steps, count(*) / count(DISTINCT (m.rank, m.step)) AS calls,
    sum(m.size_bytes) / count(DISTINCT (m.rank, m.step)) AS step_bytes,
    sum(m.dur_ns) / count(DISTINCT (m.rank, m.step)) AS step_ns,
    100.0 * sum(m.dur_ns) / count(DISTINCT (m.rank, m.step)) / nullif((SELECT avg(dur_ns) FROM step_times
        WHERE NOT is_warmup), 0) AS step_pct
FROM memcpys m JOIN step_times s ON s.rank = m.rank AND s.step = m.step AND NOT s.is_warmup
WHERE m.size_bytes IS NOT NULL
GROUP BY m.direction, m.size_bytes, m.op_name
HAVING steps = (SELECT count(*) FROM step_times WHERE NOT is_warmup) AND steps > 1
ORDER BY step_ns DESC, direction, size_bytes, operator
