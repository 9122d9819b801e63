-- title = "Frameworks on the same models"
-- doc = """A step in parts: forward pass, gradients, update, each from runs of their own without a profiler; only
-- frameworks under the same conditions stand together. The report frameworks has all of it."""
-- cannot = "No framework has times here."
-- [chart]
-- kind = "bars"
-- label = "what"
-- group = "framework"
-- parts = ["forward_ns", "gradient_ns", "update_ns"]
-- [columns]
-- what = "model and conditions"
-- framework = "as --frameworks names it, with its version where several were measured"
-- forward_ns = "forward pass"
-- gradient_ns = "gradients alone"
-- update_ns = "update alone"
-- training_ns = "whole step"
-- processes = "of each run"
SELECT concat_ws(', ', model, 'batch ' || batch, threads || if(threads = 1, ' thread', ' threads'), layout,
    nullif(device, 'cpu')) AS what, label AS framework, forward_ns, gradient_ns, update_ns, training_ns, n AS processes
FROM framework_speeds WHERE NOT is_published AND len(differs) = 0
ORDER BY model, batch, threads, device, layout, coalesce(training_ns, forward_ns), label
