-- title = "Time by line"
-- doc = """Most device time first. Frames of frameworks and installed packages are skipped; the backward pass counts at
-- the line of the forward operator, what a checkpoint runs again at its own. A line is where a function begins, unless
-- `collect --stacks` noted each line or XLA's compiled program names it. Of a kernel that a compiler wrote, the file of
-- its code stands for lines that were not recorded."""
-- cannot = """No Python frames with work of a device were recorded (`traceview collect --stacks`, or
-- torch.profiler.profile(with_stack=True))."""
-- leave_out = ["other_ns", "forward_ns", "backward_ns", "calls"]
-- rest = ["device_ns", "forward_ns", "backward_ns", "other_ns", "share_pct", "host_ns", "idle_ns"]
-- [columns]
-- line = "file, line and function; file and kernel of generated code; (no line) for what neither is known of"
-- device_ns = "device time {per step|in the recording}, overlaps counted once"
-- forward_ns = "of it of the forward pass"
-- backward_ns = "of it of the backward pass"
-- other_ns = "of it of everything else: optimizer, data, what has neither a layer nor a pass"
-- share_pct = "of all device time"
-- calls = "activities of the device {per step|in the recording}"
-- host_ns = "time of the launching thread at this line, without lines that it calls"
-- idle_ns = "of it while a device had nothing to do, mean of the devices"
-- [headings]
-- share_pct = "of device time"
-- [fractions]
-- calls = "calls/step"
WITH line AS (
    SELECT id, rank, format('{}({}): {}', file, line, function) AS line FROM user_frames
), spent AS (
    SELECT if(coalesce(o.file, c.file) IS NULL, '(no line)', rtrim(coalesce(o.file, c.file)
            || coalesce('(' || coalesce(o.line, c.line) || ')', '') || ': '
            || coalesce(o.function, c.function, ''), ': ')) AS line,
        count(*) / any_value(b.per_rank) AS calls,
        sum(b.step_alone_ns / b.per_rank) AS device_ns,
        coalesce(sum(b.step_alone_ns / b.per_rank) FILTER (b.pass = 'forward'), 0) AS forward_ns,
        coalesce(sum(b.step_alone_ns / b.per_rank) FILTER (b.pass = 'backward'), 0) AS backward_ns
    FROM (SELECT *, training_pass(is_carried, op_id IS NOT NULL, op_is_backward, op_phase, layer, category, direction)
        AS pass FROM busy) b LEFT JOIN raw.kernels k ON k.id = b.id AND b.kind = 'kernel'
    LEFT JOIN raw.memcpys m ON m.id = b.id AND b.kind = 'copy'
    LEFT JOIN source_lines o ON o.op_id = b.op_id
    LEFT JOIN source_lines c ON c.launch_id = coalesce(k.launch_id, m.launch_id) AND b.op_id IS NULL
    WHERE b.is_counted OR b.is_carried GROUP BY ALL
), stretch AS (
    SELECT h.rank, h.frame_id, greatest(h.from_ns, i.start_ns) AS from_ns, least(h.until_ns, i.end_ns) AS until_ns
    FROM host_lines h JOIN counted_windows i ON i.rank = h.rank AND h.from_ns < i.end_ns AND h.until_ns > i.start_ns
    WHERE i.step IS NOT NULL
    UNION ALL
    SELECT rank, frame_id, from_ns, until_ns FROM host_lines h
    WHERE rank IN (SELECT rank FROM scope WHERE NOT has_steps)
), hosted AS (
    SELECT l.line, sum((s.until_ns - s.from_ns) / (greatest(c.n_steps, 1) * greatest(c.n_ranks, 1))) AS host_ns
    FROM stretch s JOIN line l ON l.id = s.frame_id JOIN scope c ON c.rank = s.rank GROUP BY l.line
), edge AS (
    SELECT s.rank, d.device, s.frame_id, unnest([s.from_ns, s.until_ns]) AS at_ns, unnest([-1, 1]) AS sign
    FROM stretch s JOIN (SELECT DISTINCT rank, device FROM idle_gaps) d ON d.rank = s.rank
), idle AS (
    SELECT e.rank, l.line, sum(e.sign * (g.before_ns + least(e.at_ns, g.until_ns) - g.from_ns)) AS idle_ns
    FROM edge e ASOF JOIN idle_stretches g ON g.rank = e.rank AND g.device = e.device AND e.at_ns >= g.from_ns
    JOIN line l ON l.id = e.frame_id GROUP BY e.rank, l.line
), waited AS (
    SELECT i.line, sum(i.idle_ns / (greatest(c.n_steps, 1) * greatest(c.n_ranks, 1) * greatest(c.n_devices, 1)))
        AS idle_ns
    FROM idle i JOIN scope c ON c.rank = i.rank GROUP BY i.line
), every AS (
    SELECT line, s.device_ns, s.forward_ns, s.backward_ns, s.calls, h.host_ns, w.idle_ns
    FROM spent s FULL JOIN hosted h USING (line) LEFT JOIN waited w USING (line)
)
SELECT line, coalesce(device_ns, 0) AS device_ns, coalesce(forward_ns, 0) AS forward_ns,
    coalesce(backward_ns, 0) AS backward_ns, coalesce(device_ns - forward_ns - backward_ns, 0) AS other_ns,
    100.0 * coalesce(device_ns, 0) / nullif((SELECT sum(device_ns) FROM spent), 0) AS share_pct,
    coalesce(calls, 0) AS calls, host_ns, if(host_ns IS NULL, NULL, coalesce(idle_ns, 0)) AS idle_ns
FROM every WHERE EXISTS (FROM source_lines)
ORDER BY device_ns DESC NULLS LAST, host_ns DESC NULLS LAST, line
