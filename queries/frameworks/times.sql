-- title = "Forward pass, gradient and update"
-- doc = """Mean and standard deviation over processes. Forward is a run of its own; gradient is the run of forward pass
-- and gradients less the forward run; update is the training run less that. If the gradient run takes longer than a
-- training step, it does more than a step does: then only gradient and update together are given; where it does so
-- within the noise, no update. Rows whose conditions differ from what was asked stand in the section refused; `--set
-- accept=layout` takes that condition as equal."""
-- cannot = "No framework has times here: see the section refused, or run traceview study frameworks."
-- leave_out = ["device", "busy", "update_sd_ns", "layout", "batch", "update_ns", "gradient_sd_ns", "forward_sd_ns"]
-- [params]
-- accept = { type = "VARCHAR", default = "", doc = "conditions that may differ: threads,layout" }
-- [headings]
-- forward_sd_ns = "its sd"
-- gradient_sd_ns = "sd of gradient"
-- update_sd_ns = "sd of update"
-- training_sd_ns = "sd of step"
-- together_ns = "gradient and update"
-- training_ns = "training step"
-- busy = "of them busy"
-- [columns]
-- model = "which is computed"
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images"
-- framework = "framework and version"
-- forward_ns = "forward pass, a run of its own"
-- forward_sd_ns = "standard deviation over processes"
-- gradient_ns = "gradients: run of forward pass and gradients less forward"
-- gradient_sd_ns = "of both runs, added in squares"
-- update_ns = "training run less that of the gradients"
-- update_sd_ns = "of both runs, added in squares"
-- together_ns = "training run less the forward run"
-- training_ns = "whole step: forward pass, gradients, update"
-- training_sd_ns = "standard deviation over processes"
-- processes = "of each run"
-- busy = "of these, processes in which other programs took a tenth of the cores, in the run that has most"
-- device = "cpu or cuda"
SELECT model, batch, threads, layout, concat_ws(' ', framework, version) AS framework, forward_ns, forward_sd_ns,
    gradient_ns, gradient_sd_ns, update_ns, update_sd_ns, together_ns, training_ns, training_sd_ns,
    n AS processes, busy, device
FROM framework_speeds
WHERE NOT is_published
    AND len(list_filter(differs, lambda name: NOT list_contains(string_split($accept, ','), name))) = 0
ORDER BY model, batch, threads, device, layout, training_ns NULLS LAST, forward_ns, framework
