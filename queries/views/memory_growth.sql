-- doc = """Memory that steps allocate and nothing releases while it is recorded: per operator, layer and line, what at
-- least two steps before the last left behind. A program that fills a buffer of limited size looks the same."""
-- empty_without = ["raw.allocations"]
-- types = """rank INTEGER, device BIGINT, op_name VARCHAR, layer VARCHAR, phase VARCHAR, file VARCHAR, line INTEGER,
-- pieces BIGINT, left_bytes BIGINT, steps BIGINT, of_steps BIGINT, step_bytes DOUBLE"""
-- [columns]
-- steps = "steps that left something behind"
-- of_steps = "steps before the last that allocated anything"
-- step_bytes = "bytes that such a step leaves behind"
WITH step AS (
    SELECT rank, max(step) AS last_step, count(DISTINCT step) - 1 AS of_steps
    FROM allocations WHERE step IS NOT NULL GROUP BY rank
)
SELECT a.rank, a.device, a.op_name, a.layer, a.phase, a.file, a.line, count(*) AS pieces,
    CAST(sum(a.size_bytes) AS BIGINT) AS left_bytes, count(DISTINCT a.step) AS steps, any_value(s.of_steps) AS of_steps,
    sum(a.size_bytes) / count(DISTINCT a.step) AS step_bytes
FROM allocations a JOIN step s ON s.rank = a.rank AND a.step < s.last_step
WHERE a.freed_ns IS NULL AND a.how = 'recorded'
GROUP BY ALL
HAVING count(DISTINCT a.step) >= 2
