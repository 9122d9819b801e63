-- title = "Layer by algorithm: forward and backward"
-- doc = """Time of the fastest implementation of each algorithm, both gradients together as backward, and FLOPs by
-- model beside those of the direct method. Where only one gradient has a time, backward is empty."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = ["setting", "implementation", "workspace_bytes", "direct_flop", "wgrad_ns", "dgrad_ns", "direct_ratio"]
-- [chart]
-- kind = "bars"
-- label = ["label", "batch"]
-- group = "algorithm"
-- parts = ["forward_ns", "backward_ns"]
-- every = ["forward_ns", "backward_ns"]
-- [columns]
-- label = "network and layer"
-- batch = "images"
-- algorithm = "see docs/vocabulary.md"
-- implementation = "library and implementation of the fastest forward pass"
-- forward_ns = "forward pass"
-- dgrad_ns = "gradient of the input"
-- wgrad_ns = "gradient of the filter"
-- backward_ns = "both gradients"
-- direct_flop = "of the direct method, forward pass"
-- model_flop = "executed by the algorithm in the forward pass, by model"
-- direct_ratio = "direct over model: how many times fewer"
-- effective_flop_per_s = "FLOPs of the direct method over forward time"
-- workspace_bytes = "largest workspace of the passes, as measured or published"
-- doubt = "other programs at work (processor time where one thread computed), few runs that differ"
-- setting = "device, threads and type"
WITH pass AS (
    SELECT setting, problem, any_value(label) AS label, batch, contender AS algorithm,
        max(implementation) FILTER (direction = 'fprop') AS implementation,
        max(time_ns) FILTER (direction = 'fprop') AS forward_ns, max(time_ns) FILTER (direction = 'dgrad') AS dgrad_ns,
        max(time_ns) FILTER (direction = 'wgrad') AS wgrad_ns,
        max(time_ns) FILTER (direction = 'backward') AS both_ns,
        max(flop) FILTER (direction = 'fprop') AS direct_flop,
        max(model_flop) FILTER (direction = 'fprop') AS model_flop, max(workspace_bytes) AS workspace_bytes,
        string_agg(DISTINCT doubt, '; ' ORDER BY doubt) AS doubt
    FROM algorithm_best GROUP BY setting, problem, batch, contender
)
SELECT label, batch, algorithm, implementation, forward_ns, dgrad_ns, wgrad_ns,
    coalesce(both_ns, dgrad_ns + wgrad_ns) AS backward_ns, direct_flop, model_flop,
        direct_flop / model_flop AS direct_ratio,
    1e9 * direct_flop / forward_ns AS effective_flop_per_s, workspace_bytes, doubt, setting
FROM pass
ORDER BY count(*) OVER (PARTITION BY setting, problem, batch) = 1, setting, label, batch, problem,
    forward_ns NULLS LAST, algorithm
