-- title = "The runs"
-- doc = """Steps and times are those that are compared; a run without steps is compared as a whole. Precision, batch
-- and model are what the trace records of its convolutions and products."""
-- cannot = "There is no run."
-- leave_out = ["recordings", "work_flop", "effective_flop_per_s", "format", "precision", "samples_per_s"]
-- first = 16
-- without = [
--     "recordings", "work_flop", "effective_flop_per_s", "format", "step_ns", "samples_per_s", "ranks", "batch",
--     "precision",
-- ]
-- [columns]
-- run = "A is the baseline"
-- name = "input"
-- framework = "framework and its version, where recorded"
-- format = "trace formats"
-- device = "devices on which something ran"
-- ranks = "processes"
-- recordings = "recordings of it; times are those of the middle one"
-- steps = "steps compared; 0 compares the whole recording"
-- batch = "per step and rank, of all passes whose gradients the step adds up"
-- precision = "of convolutions and products"
-- step_ns = "mean step time, or the whole recording"
-- work_flop = """of convolutions (direct method), products, attention and recurrent layers per step and rank, with what
-- is computed again; where shapes are recorded"""
-- effective_flop_per_s = "that over the step time"
-- samples_per_s = "batch times ranks over the step time; none where ranks send to each other (pipeline)"
SELECT chr(CAST(65 + run AS INTEGER)) AS run, name, framework, format, device, ranks, recordings,
    steps, batch, precision, step_ns, flop AS work_flop, 1e9 * flop / nullif(step_ns, 0) AS effective_flop_per_s,
    if(has_steps, 1e9 * samples / nullif(step_ns, 0), NULL) AS samples_per_s
FROM run
ORDER BY run.run
