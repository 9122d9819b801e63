-- title = "Time by layer"
-- doc = """In order of first use; {per step and rank|over the whole recording, per rank}, overlaps counted once. What
-- belongs to no layer is one row."""
-- cannot = "No work of a device was found in this trace."
-- leave_out = ["class", "other_ns"]
-- rest = ["forward_ns", "backward_ns", "other_ns", "total_ns", "share_pct"]
-- [columns]
-- layer = "module, range or scope; see docs/vocabulary.md"
-- class = "class of the module, where recorded"
-- forward_ns = "device time of the forward pass"
-- backward_ns = "device time of the backward pass"
-- other_ns = "device time of everything else: optimizer, data, what has neither a layer nor a pass"
-- total_ns = "all of it"
-- share_pct = "of all device time"
-- top = "category that took most of it"
-- [headings]
-- share_pct = "of device time"
-- top = "mostly"
WITH placed AS (
    SELECT if(a.is_carried, '(launched outside these steps)', coalesce(a.layer, '(no layer)')) AS layer,
        l.first_ns, a.category, a.pass, a.alone_ns / a.per_rank AS busy_ns
    FROM passed a
    LEFT JOIN layers l ON l.rank = a.rank AND l.layer = a.layer AND NOT a.is_carried
    WHERE a.is_counted OR a.is_carried
), summed AS (
    SELECT layer, category, pass, min(first_ns) AS first_ns, sum(busy_ns) AS busy_ns FROM placed GROUP BY ALL
)
SELECT layer, (SELECT arg_min(m.class, m.rank) FROM modules m WHERE m.path = summed.layer) AS class,
    coalesce(sum(busy_ns) FILTER (pass = 'forward'), 0) AS forward_ns,
    coalesce(sum(busy_ns) FILTER (pass = 'backward'), 0) AS backward_ns,
    coalesce(sum(busy_ns) FILTER (pass = 'other'), 0) AS other_ns,
    sum(busy_ns) AS total_ns,
    100.0 * sum(busy_ns) / nullif(sum(sum(busy_ns)) OVER (), 0) AS share_pct,
    arg_max(category, (busy_ns, category)) AS top
FROM summed
GROUP BY layer
ORDER BY min(first_ns) NULLS LAST, layer
