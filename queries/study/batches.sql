-- title = "Time and memory by batch"
-- doc = """Shapes that were timed with at least two batches. If a library does not report its workspace, only the
-- modelled one is given."""
-- cannot = "No shape was timed with two batches."
-- leave_out = ["setting", "implementation", "n", "model_workspace_bytes", "fastest"]
-- [chart]
-- kind = "curves"
-- panel = ["label", "direction"]
-- x = "batch"
-- y = ["time_ns", "workspace_bytes"]
-- line = "algorithm"
-- [columns]
-- label = "network and layer"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "see docs/vocabulary.md"
-- batch = "images"
-- time_ns = "of its fastest implementation"
-- image_ns = "time per image"
-- workspace_bytes = "memory beside the tensors, as the library says or was published"
-- model_workspace_bytes = "the same by model, of the whole batch at once"
-- fastest = "whether no other algorithm was faster with this batch"
-- implementation = "library and implementation"
-- n = "times that it was timed"
-- setting = "device, threads and type"
WITH several AS (
    SELECT setting, problem, direction FROM algorithm_best GROUP BY setting, problem, direction
    HAVING count(DISTINCT batch) >= 2
)
SELECT b.label, b.direction, b.contender AS algorithm, b.batch, b.time_ns, b.time_ns / b.batch AS image_ns,
    b.workspace_bytes, b.model_workspace_bytes, b.place = 1 AS fastest, b.implementation, b.n, b.setting
FROM algorithm_best b JOIN several s ON s.setting IS NOT DISTINCT FROM b.setting AND s.problem = b.problem
    AND s.direction = b.direction
ORDER BY max(b.algorithms) OVER (PARTITION BY b.setting, b.problem, b.direction) = 1, b.setting, b.label, b.problem,
    list_position(['fprop', 'dgrad', 'wgrad', 'backward'], b.direction),
    b.contender, b.batch
