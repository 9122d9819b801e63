-- title = "The fastest of each pass"
-- doc = "Fastest implementation of each pass that was measured here, beside what PyTorch runs on plain NCHW."
-- cannot = "Nothing was measured in this capture; `traceview study algorithms` measures."
-- leave_out = ["setting", "shape", "n", "others_pct", "layout", "error", "workspace_bytes", "low_ns", "high_ns"]
-- [headings]
-- default_ns = "default"
-- best_ns = "best"
-- times_as_fast = "times as fast"
-- others_pct = "others, of the cores"
-- [columns]
-- layer = "name of the layer; of several networks with the network's"
-- batch = "images"
-- pass = "fprop, dgrad or wgrad"
-- default_ns = "PyTorch's default on plain NCHW"
-- best_ns = "the fastest implementation"
-- times_as_fast = "the first over the second"
-- algorithm = "of the fastest"
-- implementation = "library and implementation of the fastest"
-- layout = "of the activations that it demands"
-- workspace_bytes = "memory that it needs beside tensors and result"
-- error = "largest error over largest value, against double precision"
-- shape = "channels x height x width, filters, filter size, stride, padding"
-- setting = "device, threads and type"
-- n = "times that it was timed, after a first run that does not count; its time is their median"
-- low_ns = "lower end of the interval that holds the true median in at least 95 % of cases; below n = 6 the least"
-- high_ns = "upper end; below n = 6 the most"
-- others_pct = "share of the cores that other programs took meanwhile: from 10 on times tell of them too"
-- doubt = """where other programs ran, and processor time was compared as one thread computed; what was timed fewer
-- than six times with times far apart is never the fastest"""
WITH measured AS (
    SELECT *, concat_ws(' ', backend, implementation) AS ran FROM algorithm_times WHERE is_timed AND status = 'measured'
), best AS (
    SELECT setting, model, layer, shape, batch, direction, min(number) AS number,
        min(time_ns) FILTER (NOT is_wide) AS best_ns,
        min(time_ns) FILTER (backend = 'torch' AND layout_in = 'nchw') AS default_ns,
        min_by((algorithm, ran, layout_in, workspace_bytes, error, n, wall_low_ns, wall_high_ns, others_pct),
            (time_ns, number)) FILTER (NOT is_wide) AS fast,
        string_agg(DISTINCT doubt, '; ' ORDER BY doubt) AS doubt
    FROM measured GROUP BY setting, model, layer, shape, batch, direction
)
SELECT if((SELECT count(DISTINCT model) FROM best) > 1, concat_ws(' ', model, layer), layer) AS layer, batch,
    direction AS pass, default_ns, best_ns, default_ns / best_ns AS times_as_fast, fast[1] AS algorithm,
    fast[2] AS implementation, fast[3] AS layout, fast[4] AS workspace_bytes, fast[5] AS error, shape, setting,
    fast[6] AS n, fast[7] AS low_ns, fast[8] AS high_ns, fast[9] AS others_pct, doubt
FROM best
ORDER BY number
