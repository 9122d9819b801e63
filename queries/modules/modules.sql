-- title = "Time by module"
-- doc = """In order of first use, each module behind the one that it is in; {per step and rank|over the whole
-- recording, per rank}, overlaps counted once. The time of a module holds that of all modules in it, so that those of
-- depth 0 and the rows in parentheses, which are in no module, add up to all device time. A module that several others
-- hold has one path, the first, and its time is there."""
-- cannot = "No work of a device was found in this trace."
-- leave_out = ["class", "other_ns", "own_ns", "calls"]
-- [params]
-- depth = { type = "BIGINT", doc = "show modules inside at most this many others; all when left out", default = 2 }
-- [columns]
-- module = """path of the module. In parentheses what is in none: loss (and all else through which gradients flow),
-- optimizer, data, communication, what was launched outside of these steps, and the rest"""
-- class = "class of the module, where recorded"
-- depth = "modules around it"
-- calls = "calls of its forward {per step|in the recording} and rank, those between steps left out"
-- forward_ns = "device time of the forward pass, in the module and all in it"
-- backward_ns = "device time of the backward pass"
-- other_ns = "device time of everything else"
-- total_ns = "all of it"
-- own_ns = "of it in no module inside"
-- share_pct = "of all device time"
-- matrix_flop = "of products, convolutions and attention that the mathematics needs, where known"
-- mfu_pct = """time that these take at the device's dense peak of their type, of the module's device time; empty where
-- more was counted than the device can have done"""
-- top = "category that took most of it"
-- [headings]
-- share_pct = "of device time"
-- mfu_pct = "of the dense peak (MFU)"
-- top = "mostly"
-- [fractions]
-- calls = "calls/step"
WITH busy_part AS (
    SELECT rank, layer, category, direction, op_phase, op_is_backward, has_op, is_carried, false AS is_loss,
        alone_ns / per_rank AS busy_ns
    FROM totals WHERE layer IS NOT NULL AND (is_counted OR is_carried)
    UNION ALL
    SELECT b.rank, b.layer, b.category, b.direction, b.op_phase, b.op_is_backward, b.op_id IS NOT NULL, b.is_carried,
        l.op_id IS NOT NULL, b.step_alone_ns / b.per_rank
    FROM busy b LEFT JOIN loss_ops l ON l.op_id = b.op_id
    WHERE b.layer IS NULL AND (b.is_counted OR b.is_carried)
), placed AS (
    SELECT rank, category, busy_ns, if(is_carried, NULL, layer) AS path,
        CASE WHEN is_carried THEN '(launched outside these steps)' WHEN layer IS NOT NULL THEN layer
            WHEN op_phase = 'optimizer' OR category = 'optimizer' THEN '(optimizer)'
            WHEN op_phase = 'data' THEN '(data)'
            WHEN is_loss OR category = 'softmax_loss' THEN '(loss)'
            WHEN category = 'communication' THEN '(communication)' ELSE '(no module)' END AS place,
        CASE WHEN op_is_backward OR op_phase = 'backward' OR direction IN ('dgrad', 'wgrad') THEN 'backward'
            WHEN NOT is_carried AND (direction = 'fprop' OR (layer IS NOT NULL OR is_loss OR category = 'softmax_loss')
                AND has_op AND category <> 'optimizer' AND op_phase IS DISTINCT FROM 'optimizer'
                AND op_phase IS DISTINCT FROM 'data') THEN 'forward' ELSE 'other' END AS way
    FROM busy_part
), spent AS (
    SELECT p.path, p.place, p.category, sum(p.busy_ns) AS busy_ns,
        coalesce(sum(p.busy_ns) FILTER (p.way = 'forward'), 0) AS forward_ns,
        coalesce(sum(p.busy_ns) FILTER (p.way = 'backward'), 0) AS backward_ns,
        coalesce(sum(p.busy_ns) FILTER (p.way = 'other'), 0) AS other_ns
    FROM placed p GROUP BY ALL
), beyond AS (
    SELECT coalesce(bool_or(regexp_matches(verdict, '^cannot tell: (operators|\d+ % of)')), false) AS is_beyond FROM mfu
), cost AS (
    SELECT coalesce(layer, '') AS path, sum(matrix_flop / per_rank) AS flop,
        if(bool_or(matrix_flop > 0 AND peak_flop_per_s IS NULL) OR (SELECT is_beyond FROM beyond), NULL,
            sum(1e9 * matrix_flop / peak_flop_per_s / per_rank)) AS peak_ns,
        bool_or(matrix_flop > 0 AND peak_flop_per_s IS NULL) OR (SELECT is_beyond FROM beyond) AS is_unknown
    FROM op_rooflines WHERE NOT is_recompute AND matrix_flop IS NOT NULL GROUP BY 1
), tree AS (
    SELECT m.path, arg_min(m.class, m.rank) AS class, min(m.depth) AS depth, arg_min(m.ancestors, m.rank) AS ancestors,
        arg_min(m.position, m.rank) AS position,
        sum(m.calls / greatest(c.n_steps + c.n_warmup, 1)) / greatest(any_value(c.n_ranks), 1) AS calls
    FROM modules m JOIN scope c ON c.rank = m.rank GROUP BY m.path
), inside AS (
    SELECT path, unnest(ancestors) AS module FROM tree
), rolled AS (
    SELECT i.module, sum(s.forward_ns) AS forward_ns, sum(s.backward_ns) AS backward_ns, sum(s.other_ns) AS other_ns,
        sum(s.busy_ns) AS total_ns, sum(s.busy_ns) FILTER (i.path = i.module) AS own_ns
    FROM inside i JOIN spent s ON s.path = i.path GROUP BY i.module
), mostly AS (
    SELECT module, arg_max(category, (busy_ns, category)) AS top
    FROM (SELECT i.module, s.category, sum(s.busy_ns) AS busy_ns FROM inside i JOIN spent s ON s.path = i.path
        GROUP BY ALL)
    GROUP BY module
), costed AS (
    SELECT i.module, sum(c.flop) AS flop, if(bool_or(c.is_unknown), NULL, sum(c.peak_ns)) AS peak_ns
    FROM inside i JOIN cost c ON c.path = i.path GROUP BY i.module
), line AS (
    SELECT t.path AS module, t.class, t.depth, t.calls, r.forward_ns, r.backward_ns, r.other_ns, r.total_ns,
        coalesce(r.own_ns, 0) AS own_ns, nullif(c.flop, 0) AS matrix_flop, c.peak_ns, o.top,
        t.position
    FROM tree t JOIN rolled r ON r.module = t.path JOIN mostly o ON o.module = t.path
    LEFT JOIN costed c ON c.module = t.path
    WHERE t.depth <= coalesce($depth, t.depth)
    UNION ALL
    SELECT place, NULL, NULL, NULL, sum(forward_ns), sum(backward_ns), sum(other_ns), sum(busy_ns), sum(busy_ns), NULL,
        NULL, arg_max(category, (busy_ns, category)), NULL
    FROM spent WHERE path IS NULL GROUP BY place
)
SELECT module, class, depth, calls, forward_ns, backward_ns, other_ns, total_ns, own_ns,
    100.0 * total_ns / nullif((SELECT sum(busy_ns) FROM spent), 0) AS share_pct, matrix_flop,
    within_peak(100.0 * if(matrix_flop IS NULL, NULL, peak_ns) / nullif(total_ns, 0)) AS mfu_pct, top
FROM line
ORDER BY position NULLS LAST, total_ns DESC, module
