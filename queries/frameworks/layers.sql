-- title = "Device time by layer"
-- doc = """Per step, from one recording of each framework with the profiler on; (no layer) is what belongs to none.
-- Imported times of layers stand below, with their publication."""
-- cannot = "No recordings of frameworks in this capture; traceview study frameworks makes them after its times."
-- leave_out = ["layout", "threads", "batch", "device", "source"]
-- [headings]
-- busy_pct = "of its device time"
-- top = "mostly"
-- [columns]
-- model = "which was computed"
-- layer = "as the framework names it"
-- framework = "as --frameworks names it; with the version of an imported time"
-- busy_ns = "per step, overlaps counted once"
-- busy_pct = "of all device time of that framework; of imported times of whole training steps, or of the passes"
-- top = "category that took most of it"
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images"
-- device = "on which an imported time was measured"
-- pass = "forward, backward or train; of a recording the step that it recorded"
-- source = "the publication, of an imported time"
WITH summed AS (
    SELECT model, coalesce(layer, '(no layer)') AS layer, concat_ws(' ', framework, version) AS framework, category,
        sum(busy_ns) AS busy_ns, batch, threads, layout, device, mode, source
    FROM raw.framework_parts WHERE form IS NULL AND (source IS NULL OR layer IS NOT NULL)
    GROUP BY ALL
), whole AS (
    SELECT model, layer, framework, sum(busy_ns) AS busy_ns, arg_max(category, (busy_ns, category)) AS top, batch,
        threads, layout, device, mode, source
    FROM summed GROUP BY ALL
)
SELECT model, layer, framework, busy_ns,
    100.0 * busy_ns / nullif(sum(busy_ns) OVER (
        PARTITION BY model, batch, threads, layout, device, framework, source, mode = 'train'), 0) AS busy_pct,
    top, batch, threads, layout, device, mode AS pass, source
FROM whole
ORDER BY source IS NOT NULL, model, batch, threads, layer = '(no layer)', layer, framework, layout, device, source, pass
