-- title = "Memory by batch"
-- doc = """Two runs with different batches: bytes of the peak for each sample more, what does not grow with the batch,
-- and the batch that fits, each of one pass where a step adds up the gradients of several. It assumes straight lines,
-- so the same program with the same algorithms, and that all of the device's memory can be used: runs of another model,
-- precision, passes or work have no line, nor two peaks whose line is below zero at a batch of nothing. Where
-- allocations are recorded each moment of a step has a line: the one that fills the memory first limits the batch, and
-- is the peak then, which may be another one today."""
-- cannot = """No two runs that differ in the batch alone have peaks of memory at different known batches, through which
-- a line can go."""
-- [columns]
-- run = "run"
-- counter = "what the peak is of: the sum of allocations where they are recorded, else the counter, as recorded"
-- base_batch = "batch of a pass of A"
-- batch = "batch of a pass of the run"
-- base_bytes = "peak of A"
-- peak_bytes = "peak of the run"
-- sample_bytes = "bytes for each sample more"
-- fixed_bytes = "by that line, at a batch of nothing"
-- memory_bytes = "memory of the device of the run, or of the machine"
-- largest_batch = "the largest batch that fits by these lines; empty where nothing grows"
-- limit_moment = "phase, layer and operator where the peak is then; empty where it stays, or without allocations"
-- limit_sample_bytes = "bytes for each sample more there"
WITH side AS (
    SELECT p.run, p.label, m.counter, b.batch // b.passes AS base_batch, r.batch // r.passes AS batch,
        any_value(m.peak_bytes) FILTER (m.run = 0) AS base_bytes,
        any_value(m.peak_bytes) FILTER (m.run > 0) AS peak_bytes, any_value(m.memory_bytes) FILTER (m.run > 0)
            AS memory_bytes
    FROM pair p JOIN run b ON b.run = 0 JOIN run r ON r.run = p.run JOIN memory m ON m.run IN (0, p.run)
    WHERE base_batch <> r.batch // r.passes AND m.counter IN ('allocations', 'allocated_bytes')
        AND NOT EXISTS (FROM condition c WHERE c.run = p.run AND c.condition <> 'batch'
            AND starts_with(c.verdict, 'differs'))
    GROUP BY p.run, p.label, m.counter, b.batch // b.passes, r.batch // r.passes
), line AS (
    SELECT *, (peak_bytes - base_bytes) / (batch - base_batch) AS sample_bytes,
        base_bytes - sample_bytes * base_batch AS fixed_bytes
    FROM side WHERE base_bytes IS NOT NULL AND peak_bytes IS NOT NULL
    QUALIFY fixed_bytes >= 0
        AND (counter = 'allocations' OR count(nullif(counter = 'allocations', false)) OVER (PARTITION BY run) = 0)
), most AS (
    SELECT run, moment, max(moment_bytes) AS moment_bytes FROM memory_moment GROUP BY run, moment
), moment AS (
    -- What was allocated at a moment of both runs, by batch.
    SELECT l.run, b.moment, l.memory_bytes,
        (r.moment_bytes - b.moment_bytes) / (l.batch - l.base_batch) AS sample_bytes,
        b.moment_bytes - (r.moment_bytes - b.moment_bytes) / (l.batch - l.base_batch) * l.base_batch AS fixed_bytes
    FROM line l JOIN most b ON b.run = 0
    JOIN most r ON r.run = l.run AND r.moment = b.moment
    WHERE l.counter = 'allocations'
), limiting AS (
    SELECT run, arg_min(
        {moment: moment, sample_bytes: sample_bytes, batch: (memory_bytes - fixed_bytes) / sample_bytes},
        ((memory_bytes - fixed_bytes) / sample_bytes, moment)) AS it
    FROM moment WHERE sample_bytes > 0 GROUP BY run
), fitting AS (
    SELECT l.*, CASE WHEN sample_bytes > 0 AND memory_bytes > fixed_bytes
        THEN (memory_bytes - fixed_bytes) / sample_bytes END AS fits, m.it
    FROM line l LEFT JOIN limiting m ON m.run = l.run AND l.counter = 'allocations'
)
SELECT label AS run, counter, base_batch, batch, base_bytes, peak_bytes, sample_bytes, fixed_bytes, memory_bytes,
    CASE WHEN coalesce(fits, it.batch) IS NOT NULL THEN CAST(floor(greatest(0, least(fits, it.batch))) AS BIGINT)
        END AS largest_batch,
    if(it.batch < coalesce(fits, 'infinity'), it.moment, NULL) AS limit_moment,
    if(it.batch < coalesce(fits, 'infinity'), it.sample_bytes, NULL) AS limit_sample_bytes
FROM fitting
ORDER BY fitting.run, counter
