-- title = "Memory by batch"
-- doc = """Two runs with different batches: bytes of the peak for each sample more, what does not grow with the batch,
-- and the batch that fits. It assumes a straight line through both peaks, so the same program with the same algorithms,
-- and that all of the device's memory can be used."""
-- cannot = "No two runs have peaks of memory at different known batches."
-- [columns]
-- run = "run"
-- counter = "what the peak is of: the sum of allocations where they are recorded, else the counter, as recorded"
-- base_batch = "batch of A"
-- batch = "batch of the run"
-- base_bytes = "peak of A"
-- peak_bytes = "peak of the run"
-- sample_bytes = "bytes for each sample more"
-- fixed_bytes = "by that line, at a batch of nothing"
-- memory_bytes = "memory of the device of the run, or of the machine"
-- largest_batch = "by that line, the largest batch that fits; empty where the peak does not grow"
WITH side AS (
    SELECT p.run, p.label, m.counter, b.batch AS base_batch, r.batch,
        any_value(m.peak_bytes) FILTER (m.run = 0) AS base_bytes,
        any_value(m.peak_bytes) FILTER (m.run > 0) AS peak_bytes, any_value(m.memory_bytes) FILTER (m.run > 0)
            AS memory_bytes
    FROM pair p JOIN run b ON b.run = 0 JOIN run r ON r.run = p.run JOIN memory m ON m.run IN (0, p.run)
    WHERE b.batch <> r.batch AND m.counter IN ('allocations', 'allocated_bytes')
    GROUP BY p.run, p.label, m.counter, b.batch, r.batch
), line AS (
    SELECT *, (peak_bytes - base_bytes) / (batch - base_batch) AS sample_bytes,
        base_bytes - sample_bytes * base_batch AS fixed_bytes
    FROM side WHERE base_bytes IS NOT NULL AND peak_bytes IS NOT NULL
    QUALIFY counter = 'allocations' OR count(*) FILTER (counter = 'allocations') OVER (PARTITION BY run) = 0
)
SELECT label AS run, counter, base_batch, batch, base_bytes, peak_bytes, sample_bytes, fixed_bytes, memory_bytes,
    CASE WHEN sample_bytes > 0 AND memory_bytes > fixed_bytes
        THEN CAST(floor((memory_bytes - fixed_bytes) / sample_bytes) AS BIGINT) END AS largest_batch
FROM line
ORDER BY line.run, counter
