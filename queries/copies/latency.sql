-- title = "Bound by latency"
-- doc = """Tiny copies and short idle gaps of the device{, per step| in the whole recording}. Each costs a round trip
-- to the device rather than work, so a faster device or link does not help a step that consists of them. Several
-- devices are averaged."""
-- cannot = "This trace has no timeline of a device's work."
-- leave_out = ["unsized", "step_ns", "tiny_ns", "gaps_ns"]
-- [params]
-- tiny_bytes = { type = "BIGINT", default = 4096, doc = "a copy between host and device is tiny below this size" }
-- short_gap_ns = { type = "BIGINT", default = 1000000, doc = "an idle stretch is short up to this duration" }
-- latency_pct = { type = "DOUBLE", default = 30, doc = "bound by latency above this share of the step, in percent" }
-- [columns]
-- rank = "process of the job"
-- tiny = "tiny copies"
-- tiny_ns = "their time, less what overlaps work that started earlier on the same device"
-- unsized = "copies without a recorded size: they may be tiny, and are not counted"
-- gaps = "short idle stretches between two things on the device"
-- gaps_ns = "their time"
-- step_ns = "time of the step, or of the recording"
-- latency_pct = "tiny copies and short idle stretches, of it"
-- verdict = "bound by latency, or not"
-- [headings]
-- latency_pct = "of {step|recording}"
-- [fractions]
-- tiny = "tiny{/step| (mean)}"
-- gaps = "gaps{/step| (mean)}"
-- unsized = "unsized{/step| (mean)}"
WITH work AS (
    SELECT c.rank, c.device, c.step, c.start_ns, c.covered_until_ns, c.alone_ns, c.per, c.step_ns, c.kind,
        m.direction IN ('HtoD', 'DtoH') AS crosses, m.size_bytes
    FROM counted c LEFT JOIN memcpys m ON m.id = c.id WHERE c.kind IN ('kernel', 'copy')
), gap AS (
    -- What starts together after the same end waited once. What began before the step is not part of it.
    SELECT g.rank, count(*) AS gaps, sum(g.gap_ns) AS gaps_ns FROM (
        SELECT w.rank, min(w.start_ns) - w.covered_until_ns AS gap_ns
        FROM work w LEFT JOIN step_times t ON t.rank = w.rank AND t.step = w.step
        WHERE w.start_ns > w.covered_until_ns AND coalesce(w.covered_until_ns >= t.start_ns, true)
        GROUP BY w.rank, w.device, w.step, w.covered_until_ns
    ) g WHERE g.gap_ns <= $short_gap_ns GROUP BY g.rank
), total AS (
    SELECT rank, any_value(step_ns) AS step_ns, any_value(per) * count(DISTINCT device) AS shares,
        count(*) FILTER (crosses AND size_bytes < $tiny_bytes) AS tiny,
        coalesce(sum(alone_ns) FILTER (crosses AND size_bytes < $tiny_bytes), 0) AS tiny_ns,
        count(*) FILTER (crosses AND size_bytes IS NULL) AS unsized
    FROM work GROUP BY rank
), summed AS (
    SELECT t.rank, t.tiny / t.shares AS tiny, t.tiny_ns / t.shares AS tiny_ns, t.unsized / t.shares AS unsized,
        coalesce(g.gaps, 0) / t.shares AS gaps, coalesce(g.gaps_ns, 0) / t.shares AS gaps_ns, t.step_ns
    FROM total t LEFT JOIN gap g USING (rank)
)
SELECT *, 100.0 * (tiny_ns + gaps_ns) / nullif(step_ns, 0) AS latency_pct,
    if(100.0 * (tiny_ns + gaps_ns) > $latency_pct * step_ns, 'bound by latency', 'not bound by latency') AS verdict
FROM summed
ORDER BY rank
