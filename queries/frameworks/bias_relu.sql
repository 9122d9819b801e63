-- title = "Bias and activation by library"
-- doc = """Libraries that add biases and compute activations, and how long that takes per step over all layers, from
-- one recording of each framework with the profiler on. What is fused into another kernel has no time of its own.
-- Published times state neither batch nor pass, so they have no ratio to measured ones."""
-- cannot = "No recordings of frameworks in this capture; traceview study frameworks makes them after its times."
-- leave_out = ["source", "layout", "threads", "batch"]
-- [columns]
-- model = "which was computed"
-- work = "bias, bias gradient, activation or activation gradient"
-- framework = "as --frameworks names it"
-- library = "library that implements it"
-- form = "unfused, operator (on a CPU), epilogue kernel or fused"
-- calls = "per step"
-- busy_ns = "per step, overlaps counted once"
-- ratio = """all of this work of the framework over the least of those that do it as often, none of it fused; none
-- where that is below half a microsecond, which is shown as 0"""
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images"
-- source = "of a published time the publication"
-- [fractions]
-- calls = "calls/step"
WITH summed AS (
    SELECT model, category AS work, framework, library, form, sum(calls) AS calls, sum(busy_ns) AS busy_ns, batch,
        threads, layout, source
    FROM raw.framework_parts WHERE form IS NOT NULL OR source IS NOT NULL AND layer IS NULL
    GROUP BY ALL
), whole AS (
    -- What is fused has no time, or does not appear at all.
    SELECT *, if(count(*) OVER own = count(busy_ns) OVER own, sum(busy_ns) OVER own, NULL) AS own_ns,
        round(sum(calls) OVER own, 3) AS own_calls
    FROM summed WINDOW own AS (PARTITION BY model, work, framework, batch, threads, layout, source)
)
SELECT model, work, framework, library, form, calls, busy_ns,
    if(min(framework) OVER same < max(framework) OVER same AND min(own_ns) OVER same >= 500,
        own_ns / min(own_ns) OVER same, NULL) AS ratio,
    batch, threads, layout, source
FROM whole
WINDOW same AS (PARTITION BY model, work, batch, threads, layout, source, own_calls, own_ns IS NULL)
ORDER BY source IS NOT NULL, model, batch, threads, work, layout, busy_ns NULLS FIRST, framework, library, form, source
