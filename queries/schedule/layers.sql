-- title = "What each pass runs"
-- doc = """Chosen by the time of the pass alone, and confirmed within the training step where those times are there;
-- `own` is PyTorch's own. Those that gain most come first."""
-- cannot = "No plan in this capture. `traceview schedule ... -o FOLDER --resume` continues a stopped one."
-- top = 12
-- rest = ["time_ns", "own_ns"]
-- leave_out = ["own_in_step_ns", "in_step_ns", "error", "layout", "workspace_bytes"]
-- [headings]
-- speedup = "times as fast"
-- [columns]
-- layer = "name of the module"
-- direction = "fprop, dgrad or wgrad"
-- runs = "what runs; own: PyTorch's own"
-- status = "chosen, own, dropped (it, or whole steps with it, no faster), not proved"
-- layout = "layout of activations"
-- time_ns = "time of the pass, in all its calls in a step"
-- own_ns = "time of PyTorch's own on plain NCHW"
-- speedup = "the second over the first; of what left the plan none"
-- workspace_bytes = "memory that it needs beside tensors and result"
-- error = "largest error over largest value, against double precision"
-- in_step_ns = "time within a training step"
-- own_in_step_ns = "time of PyTorch's own within a training step"
SELECT layer, direction, if(backend = 'torch_default', 'own', concat_ws(' ', backend, implementation)) AS runs, status,
    layout, time_ns, own_ns,
    if(status IN ('chosen', 'own'), round(own_ns / nullif(time_ns, 0), 2), NULL) AS speedup,
    workspace_bytes, error, in_step_ns, own_in_step_ns
FROM raw.schedule_layers
ORDER BY own_ns - time_ns DESC, place, direction
