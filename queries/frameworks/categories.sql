-- title = "Device time by category"
-- doc = """Per step, from one recording of each framework with the profiler on; ranked in each category among
-- frameworks under the same conditions. A framework's profiler decides what is recorded: on a CPU some fuse several
-- categories into one operator."""
-- cannot = "No recordings of frameworks in this capture; traceview study frameworks makes them after its times."
-- leave_out = ["layout", "threads", "batch", "place"]
-- [headings]
-- busy_pct = "of its device time"
-- [params]
-- accept = { type = "VARCHAR", default = "", doc = "conditions that may differ: layout" }
-- [columns]
-- model = "which was computed"
-- category = "see docs/vocabulary.md"
-- place = "1 takes the least"
-- framework = "as --frameworks names it"
-- busy_ns = "per step, overlaps counted once"
-- busy_pct = "of all device time of that framework"
-- ratio = "over the least of the category; none where that is below half a microsecond, which is shown as 0"
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images"
WITH summed AS (
    SELECT model, category, framework, sum(busy_ns) AS busy_ns, batch, threads, layout, mode,
        if(list_contains(string_split($accept, ','), 'layout'), NULL, layout) AS side
    FROM raw.framework_parts WHERE form IS NULL AND source IS NULL
    GROUP BY ALL
)
SELECT model, category, rank() OVER (same ORDER BY busy_ns) AS place, framework, busy_ns,
    100.0 * busy_ns / nullif(sum(busy_ns) OVER (PARTITION BY model, batch, threads, layout, framework), 0) AS busy_pct,
    if(min(busy_ns) OVER same >= 500, busy_ns / min(busy_ns) OVER same, NULL) AS ratio, batch, threads, layout
FROM summed
WINDOW same AS (PARTITION BY model, category, batch, threads, side, mode)
ORDER BY model, batch, threads, side, sum(busy_ns) OVER (PARTITION BY model, batch, threads, side, category) DESC,
    category, mode, busy_ns, framework, layout
