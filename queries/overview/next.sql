-- title = "What to run next"
-- doc = "Reports that have something to say for this trace, what concerns most of the step first. TRACE is the input."
-- brief = ""
-- optional = true
-- top = 6
-- [columns]
-- command = "what to run"
-- shows = "what that shows of this trace"
WITH step AS (
    SELECT sum(step_ns) AS step_ns, sum(idle_ns) AS idle_ns, count(DISTINCT rank) AS n_ranks FROM account
), work AS (
    SELECT sum(alone_ns / per) FILTER (in_call) AS conv_ns, sum(alone_ns / per) FILTER (kind = 'copy') AS copy_ns,
        sum(alone_ns / per) FILTER (layer IS NOT NULL) AS layer_ns,
        sum(alone_ns / per) FILTER (kind IN ('kernel', 'primitive')) AS kernel_ns,
        sum(alone_ns / per) FILTER (category = 'layout_transpose') AS layout_ns,
        count(DISTINCT name) FILTER (kind IN ('kernel', 'primitive')) AS n_names,
        count(DISTINCT layer) AS n_layers
    FROM totals WHERE is_counted
), sent AS (
    SELECT sum(step_own_ns / per) AS sent_ns FROM exchanges WHERE is_counted
), found AS (
    SELECT 'idle' AS report, 'what the device waited for, and why' AS shows, idle_ns AS about_ns,
        idle_ns > 0.02 * step_ns AS is_worth FROM step
    UNION ALL
    SELECT 'conv', 'convolutions by layer: algorithm, shapes, parts of their time', conv_ns, conv_ns > 0 FROM work
    UNION ALL
    SELECT 'kernels', format('all {} kernels and primitives: calls, median, spread', n_names), kernel_ns, n_names > 5
    FROM work
    UNION ALL
    SELECT 'counters', 'FLOP, bytes and occupancy of kernels, as counted by the hardware', NULL, true
    FROM (SELECT 1 FROM raw.events WHERE category = 'kernel counter' LIMIT 1)
    UNION ALL
    SELECT 'layers', format('{} layers, forward and backward', n_layers), layer_ns, n_layers > 1 FROM work
    UNION ALL
    SELECT 'communication', 'collectives: bytes, bandwidth, exposed time', sent_ns, sent_ns > 0 FROM sent
    UNION ALL
    SELECT 'copies', 'copies by size and kind of memory: bandwidth, pageable memory', copy_ns,
        copy_ns > 0.01 * step_ns FROM work, step
    UNION ALL
    SELECT 'layout', 'layout conversions by layer and format', layout_ns, layout_ns > 0.02 * step_ns FROM work, step
    UNION ALL
    SELECT 'layers', format('average times of {} from the log', if(count(layer) > 0,
            format('{} layers', count(DISTINCT layer)), 'whole networks')), NULL, count(*) > 0
    FROM layer_times
    UNION ALL
    SELECT 'roofline', 'operators against the roofline of the device, and the time above it', covered_ns, covered_ns > 0
    FROM (SELECT sum(o.floor_ns / o.per_rank) AS covered_ns FROM op_rooflines o WHERE o.matrix_flop > 0)
    UNION ALL
    SELECT 'memory', 'allocated and reserved memory: peak and per step', NULL, true
    FROM (SELECT 1 FROM raw.counters WHERE name LIKE '%\_bytes' ESCAPE '\' LIMIT 1)
    UNION ALL
    SELECT report, shows, NULL, true FROM experiments
    UNION ALL
    SELECT 'quality', 'what was damaged or could not be linked in the input', NULL, true
    FROM (SELECT 1 FROM quality LIMIT 1)
)
SELECT format('traceview report TRACE {}', report) AS command, shows
FROM found WHERE is_worth
ORDER BY about_ns DESC NULLS LAST, command
