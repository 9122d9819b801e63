-- title = "Memory"
-- doc = "Largest value of every counter of bytes, over the whole recording."
-- cannot = "There is only one run, or no counter of memory in any."
-- bar = "diff_bytes"
-- [columns]
-- run = "run"
-- counter = "counter, as recorded"
-- base_bytes = "peak of A"
-- peak_bytes = "peak of the run"
-- diff_bytes = "difference"
-- ratio = "the run's over A's"
WITH side AS (
    SELECT p.run, p.label, m.counter, any_value(m.peak_bytes) FILTER (m.run = 0) AS base_bytes,
        any_value(m.peak_bytes) FILTER (m.run > 0) AS peak_bytes
    FROM pair p JOIN memory m ON m.run IN (0, p.run) AND m.counter <> 'allocations'
    GROUP BY p.run, p.label, m.counter
)
SELECT label AS run, counter, base_bytes, peak_bytes, peak_bytes - base_bytes AS diff_bytes,
    peak_bytes / nullif(base_bytes, 0) AS ratio
FROM side
ORDER BY side.run, abs(peak_bytes - base_bytes) DESC NULLS LAST, counter
