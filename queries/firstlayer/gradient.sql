-- title = "What the first convolution's input gradient costs"
-- doc = """{Per step|In the recording}, with the copy of that gradient to the host. The first convolution is the one
-- that starts first in a step. If trained layers come before it, its input gradient is needed; otherwise give the
-- framework an input that needs no gradient."""
-- cannot = "No forward convolution operator in this trace."
-- leave_out = ["dgrad_flop", "flop_pct", "backward_calls", "input"]
-- [columns]
-- rank = "process of the job"
-- layer = "first convolution's layer, or its filter's shape"
-- input = "its input"
-- verdict = """computed, not computed, no gradients (the trace has none), or cannot tell: neither shapes, nor a layer,
-- nor a copy of the input's size to the host says which gradient is the first convolution's"""
-- backward_calls = "gradient calls of it {per step|in the recording}"
-- dgrad_calls = "input gradients of it {per step|in the recording}"
-- dgrad_ns = """time of the input gradient, with its layout changes and helpers and its copy to the host{, per step|
-- in the recording}, overlaps counted once"""
-- copy_ns = "of it, the copy to the host"
-- conv_pct = "dgrad without that copy, of all convolution time"
-- step_pct = "dgrad with it, of {step time|the recording}"
-- dgrad_flop = "FLOPs of the direct method that this takes{, per step| in the recording}"
-- flop_pct = "of the FLOPs of all convolutions"
-- [headings]
-- conv_pct = "of conv time"
-- step_pct = "of {step|recording}"
-- flop_pct = "of conv FLOPs"
-- [fractions]
-- backward_calls = "backward calls{/step| (mean)}"
-- dgrad_calls = "dgrad calls{/step| (mean)}"
WITH every AS MATERIALIZED (
    SELECT * FROM counted_conv_calls
), first AS (
    SELECT rank, layer, input_shape FROM every WHERE direction = 'fprop'
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY start_ns, op_id) = 1
), opening AS (
    SELECT op_id FROM every WHERE direction = 'fprop'
    QUALIFY row_number() OVER (PARTITION BY rank, step ORDER BY start_ns, op_id) = 1
), gradient AS (
    SELECT f.rank, count(DISTINCT e.op_id) / any_value(e.per) AS calls FROM every e
    JOIN first f ON f.rank = e.rank
    LEFT JOIN every forward ON forward.op_id = e.forward_call AND forward.direction = 'fprop'
    WHERE e.direction IN ('dgrad', 'wgrad')
        -- A layer guessed from places alone does not say whether a gradient is missing at its place.
        AND if(f.layer = '(no layer)' OR f.layer LIKE '%(guessed)' AND f.input_shape IS NULL,
            e.forward_call IN (FROM opening), coalesce(forward.layer, e.layer) = f.layer)
    GROUP BY f.rank
), lost AS (
    -- Rows and time as the rule first_layer_gradient counts them.
    SELECT c.rank, c.call_id, c.kind = 'copy' AS is_copy, c.rank_alone_ns / c.per AS own_ns
    FROM counted c SEMI JOIN input_gradients g ON g.id = c.id
), found AS (
    SELECT rank, sum(own_ns) AS dgrad_ns, coalesce(sum(own_ns) FILTER (is_copy), 0) AS copy_ns FROM lost GROUP BY rank
), worked AS (
    SELECT rank, count(DISTINCT op_id) / any_value(per) AS calls, sum(flop / per) AS flop FROM every
    WHERE direction = 'dgrad' AND op_id IN (SELECT call_id FROM lost) GROUP BY rank
), whole AS (
    SELECT e.rank, sum(e.flop / e.per) AS flop, any_value(c.conv_ns) AS conv_ns,
        count(*) FILTER (e.direction IS DISTINCT FROM 'fprop') > 0 AS has_gradients
    FROM every e
    LEFT JOIN (SELECT rank, sum(rank_alone_ns / per) AS conv_ns FROM counted WHERE call_id IS NOT NULL GROUP BY rank) c
        ON c.rank = e.rank
    GROUP BY e.rank
), told AS (
    SELECT f.*, g.calls AS backward_calls, w.flop AS all_flop, w.conv_ns, s.step_ns, k.calls, k.flop AS dgrad_flop, d.*
        EXCLUDE (rank),
        CASE WHEN d.rank IS NOT NULL THEN 'computed' WHEN g.calls > 0 THEN 'not computed'
            WHEN NOT w.has_gradients THEN 'no gradients' ELSE 'cannot tell' END AS verdict
    FROM first f JOIN whole w ON w.rank = f.rank JOIN scope s ON s.rank = f.rank
    LEFT JOIN gradient g ON g.rank = f.rank LEFT JOIN found d ON d.rank = f.rank LEFT JOIN worked k ON k.rank = f.rank
), priced AS (
    SELECT *, if(verdict <> 'cannot tell', coalesce(dgrad_ns, 0), NULL) AS lost_ns,
        if(verdict <> 'cannot tell', coalesce(copy_ns, 0), NULL) AS sent_ns
    FROM told
)
SELECT rank, layer, array_to_string(input_shape, 'x') AS input, verdict,
    coalesce(backward_calls, if(verdict = 'no gradients', 0, NULL)) AS backward_calls,
    if(verdict <> 'cannot tell', coalesce(calls, 0), NULL) AS dgrad_calls, lost_ns AS dgrad_ns, sent_ns AS copy_ns,
    100.0 * (lost_ns - sent_ns) / nullif(conv_ns, 0) AS conv_pct, 100.0 * lost_ns / nullif(step_ns, 0) AS step_pct,
    dgrad_flop, 100.0 * dgrad_flop / nullif(all_flop, 0) AS flop_pct
FROM priced
ORDER BY rank, layer
