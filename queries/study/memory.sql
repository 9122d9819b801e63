-- title = "Memory beside the model"
-- doc = """Workspace that a library reports or a publication measured, divided by the formula of its method
-- (docs/convolution.md): above 1 it holds copies and padding, below 1 the library works in parts. Listed are the
-- fastest implementation of each library and method, and every published one."""
-- cannot = "No implementation in this capture reports its workspace and has a formula for it."
-- leave_out = ["setting", "batch", "time_ns", "algorithm"]
-- [columns]
-- label = "network and layer"
-- batch = "images"
-- direction = "fprop, dgrad, wgrad or backward"
-- algorithm = "see docs/vocabulary.md"
-- method = "the model"
-- implementation = "library and implementation"
-- workspace_bytes = "memory beside the tensors, as the library says or was published"
-- model_workspace_bytes = "of the whole batch at once, by model"
-- ratio = "workspace over the model's"
-- time_ns = "measured or published"
-- setting = "device, threads and type"
SELECT label, batch, direction, algorithm, method, concat_ws(' ', backend, implementation) AS implementation,
    workspace_bytes, model_workspace_bytes, workspace_bytes / model_workspace_bytes AS ratio, time_ns, setting
FROM algorithm_times
WHERE is_timed AND workspace_bytes > 0 AND model_workspace_bytes > 0
QUALIFY status = 'published' OR row_number() OVER (PARTITION BY setting, problem, batch, direction, method, backend
    ORDER BY time_ns, number) = 1
ORDER BY setting, method, implementation, label, batch,
    list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction), number
