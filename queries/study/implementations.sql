-- title = "Implementations of one algorithm"
-- doc = "Implementations of the same algorithm, two or more of which were timed for the same problem, and their ratio."
-- cannot = "No problem for which two implementations of one algorithm were timed."
-- leave_out = ["setting", "layouts", "workspace_bytes", "ratio"]
-- [chart]
-- kind = "bars"
-- label = "label"
-- group = "implementation"
-- parts = ["time_ns"]
-- [columns]
-- algorithm = "see docs/vocabulary.md"
-- label = "network and layer"
-- batch = "images"
-- direction = "fprop, dgrad or wgrad; backward where both gradients are one time"
-- implementation = "library and implementation"
-- layouts = "layouts that it demands"
-- time_ns = "its time"
-- ratio = "over that of the fastest implementation of the algorithm"
-- workspace_bytes = "memory beside the tensors"
-- doubt = "other programs at work (processor time where one thread computed), few runs that differ"
-- setting = "device, threads and type"
WITH ran AS (
    SELECT setting, problem, label, batch, direction, algorithm, concat_ws(' ', backend,
        implementation) AS implementation,
        concat_ws(' to ', layout_in, layout_out) AS layouts, min(time_ns) AS time_ns,
        min_by(workspace_bytes, time_ns) AS workspace_bytes, min_by(doubt, time_ns) AS doubt
    FROM algorithm_times WHERE is_timed AND algorithm IS NOT NULL GROUP BY ALL
)
SELECT algorithm, label, batch, direction, implementation, nullif(layouts, '') AS layouts, time_ns,
    time_ns / min(time_ns) OVER same AS ratio, workspace_bytes, doubt, setting
FROM ran
WINDOW same AS (PARTITION BY setting, problem, batch, direction, algorithm)
QUALIFY count(*) OVER same >= 2
ORDER BY setting, algorithm, label, problem, batch, list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction),
    time_ns, implementation, layouts
