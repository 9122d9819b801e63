-- title = "The fastest algorithm for each shape"
-- doc = "Shapes for which at least two algorithms were timed, by batch and direction."
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = ["setting", "shape", "workspace_bytes", "implementation", "algorithms", "apart"]
-- [chart]
-- kind = "map"
-- row = ["label", "batch"]
-- column = "direction"
-- value = "algorithm"
-- strength = "gain"
-- [columns]
-- label = "network and layer"
-- shape = "channels x height x width, filters, filter size, stride, padding"
-- batch = "images"
-- direction = "fprop, dgrad or wgrad; backward where both gradients are one time"
-- algorithm = "the fastest"
-- time_ns = "its time"
-- gain = "time of the second over its time"
-- second = "the second"
-- apart = "whether their intervals do not overlap; empty where there are none"
-- doubt = "of either: other programs at work (processor time where one thread computed), few runs that differ"
-- algorithms = "algorithms timed"
-- implementation = "library and implementation of the fastest"
-- workspace_bytes = "memory that it needs beside the tensors"
-- setting = "device, threads and type"
SELECT a.label, a.shape, a.batch, a.direction, a.contender AS algorithm, a.time_ns, b.time_ns / a.time_ns AS gain,
    b.contender AS second, a.high_ns < b.low_ns AS apart, coalesce(a.doubt, b.doubt) AS doubt, a.algorithms,
    a.implementation, a.workspace_bytes, a.setting
FROM algorithm_best a JOIN algorithm_best b ON a.place = 1 AND b.place = 2 AND b.problem = a.problem
    AND b.setting IS NOT DISTINCT FROM a.setting AND b.batch IS NOT DISTINCT FROM a.batch
    AND b.direction IS NOT DISTINCT FROM a.direction
ORDER BY a.setting, a.label, a.problem, a.batch, list_position(['fprop', 'dgrad', 'wgrad', 'backward'], a.direction)
