-- title = "By layer and conversion"
-- doc = """Formats come from the log of a CPU library or from the kernel name; (unknown) if neither has them. A reorder
-- between equal formats is a cast or a copy.
-- TensorFlow converts filters between HWIO and cuDNN's OIHW with a separate kernel."""
-- cannot = "No layout conversions in this trace."
-- leave_out = ["layer_pct", "direction", "place"]
-- kernels = ["name"]
-- [columns]
-- layer = "layer, else the operator that caused it"
-- place = "inside a convolution call, between operators, or (unknown): no operator recorded, no convolution beside it"
-- direction = "pass of the convolution it belongs to"
-- source = "format before"
-- target = "format after"
-- name = "kernel or primitive"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- busy_pct = "of all device time"
-- layer_pct = """of the time of the convolution calls of that layer and direction; empty if neither layer nor shape is
-- known"""
-- [headings]
-- busy_pct = "of device time"
-- layer_pct = "of the layer's conv"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH every AS (
    SELECT *, coalesce(layer, 'filter ' || filter, op_name, '(no operator)') AS place_name FROM totals
    WHERE is_counted OR is_carried
), conv AS (
    SELECT place_name, direction, sum(every.total_ns / per_rank) AS total_ns FROM every
    WHERE is_counted AND in_call AND coalesce(layer, filter) IS NOT NULL GROUP BY ALL
), change AS (
    SELECT c.*, coalesce(c.layer, 'filter ' || c.filter, c.op_name, '(no operator)') AS place_name,
        regexp_extract(p.formats, 'src[:_]\S*?blocked:(\w+)', 1) AS logged_source,
        regexp_extract(p.formats, 'dst[:_]\S*?blocked:(\w+)', 1) AS logged_target,
        regexp_extract(c.name, '(?i)((?:n|c)[cdhwn]{2,4})_?(?:to|2)_?((?:n|c)[cdhwn]{2,4})',
            ['source', 'target']) AS named,
        regexp_matches(c.name, 'ShuffleInTensor3Simple<\w+, (?:int=|\(int\))?[12], (?:int=|\(int\))?[012], ')
            AS turns_filter
    FROM counted c LEFT JOIN raw.primitives p ON p.id = c.id AND c.kind = 'primitive'
    WHERE c.category = 'layout_transpose'
)
SELECT change.place_name AS layer,
    CASE WHEN call_id IS NOT NULL THEN 'inside convolutions' WHEN op_id IS NOT NULL THEN 'between operators'
        ELSE '(unknown)' END AS place,
    change.direction,
    coalesce(nullif(logged_source, ''), nullif(upper(named.source), ''), if(name LIKE '%:ReorderOutput', 'NCHWc', NULL),
        if(turns_filter, 'filter', NULL), '(unknown)')
        AS source,
    coalesce(nullif(logged_target, ''), nullif(upper(named.target), ''), if(name LIKE '%:ReorderInput', 'NCHWc', NULL),
        if(turns_filter, 'filter', NULL), '(unknown)')
        AS target,
    name, sum(1.0 / per_rank) FILTER (is_continued IS NOT true) AS calls, sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif((SELECT sum(alone_ns / per_rank) FROM every), 0) AS busy_pct,
    CASE WHEN call_id IS NOT NULL THEN 100.0 * sum(dur_ns / per_rank) / nullif(any_value(conv.total_ns),
        0) END AS layer_pct
FROM change
LEFT JOIN conv ON conv.place_name = change.place_name AND conv.direction IS NOT DISTINCT FROM change.direction
GROUP BY change.place_name, change.direction, source, target, name, place, call_id IS NOT NULL
ORDER BY busy_ns DESC, layer, place, direction, source, target, name
