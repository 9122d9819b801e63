-- title = "What the first convolution's input gradient costs"
-- doc = """Per step. The first convolution is the one that starts first in a step. If trained layers come before it,
-- its input gradient is needed; otherwise give the framework an input that needs no gradient."""
-- cannot = "No forward convolution operator in this trace."
-- leave_out = ["dgrad_flop", "flop_pct", "backward_calls", "input"]
-- [columns]
-- rank = "process of the job"
-- layer = "first convolution's layer, or its filter's shape"
-- input = "its input"
-- backward_calls = "gradient calls of it per step; 0 where none is recorded or none can be told to be its"
-- dgrad_calls = "of them with an input gradient"
-- dgrad_ns = "time of the input gradient, with its layout changes and helpers, per step, overlaps counted once"
-- conv_pct = "of all convolution time"
-- step_pct = "of step time"
-- dgrad_flop = "FLOPs of the direct method that this takes, per step"
-- flop_pct = "of the FLOPs of all convolutions"
-- [headings]
-- conv_pct = "of conv time"
-- step_pct = "of step"
-- flop_pct = "of conv FLOPs"
-- [fractions]
-- backward_calls = "backward calls/step"
-- dgrad_calls = "dgrad calls/step"
WITH every AS MATERIALIZED (
    SELECT * FROM counted_conv_calls
), first AS (
    SELECT rank, layer, input_shape FROM every WHERE direction = 'fprop'
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY start_ns, op_id) = 1
), opening AS (
    SELECT op_id FROM every WHERE direction = 'fprop'
    QUALIFY row_number() OVER (PARTITION BY rank, step ORDER BY start_ns, op_id) = 1
), gradient AS (
    SELECT e.* FROM every e
    JOIN first f ON f.rank = e.rank
    LEFT JOIN every forward ON forward.op_id = e.forward_call AND forward.direction = 'fprop'
    WHERE e.direction IN ('dgrad', 'wgrad')
        AND if(f.layer = '(no layer)', e.forward_call IN (FROM opening), coalesce(forward.layer, e.layer) = f.layer)
), own AS (
    -- The same rows and the same time as the rule first_layer_gradient counts.
    SELECT call_id, sum(rank_alone_ns / per) AS own_ns FROM counted WHERE direction = 'dgrad' AND call_id IS NOT NULL
    GROUP BY call_id
), whole AS (
    SELECT e.rank, sum(e.flop / e.per) AS flop, any_value(c.conv_ns) AS conv_ns
    FROM every e
    LEFT JOIN (SELECT rank, sum(rank_alone_ns / per) AS conv_ns FROM counted WHERE call_id IS NOT NULL GROUP BY rank) c
        ON c.rank = e.rank
    GROUP BY e.rank
), lost AS (
    SELECT rank, sum(own_ns) AS dgrad_ns
    FROM (SELECT DISTINCT g.rank, o.* FROM gradient g JOIN own o ON o.call_id = g.op_id WHERE g.direction = 'dgrad')
    GROUP BY rank
)
SELECT f.rank, f.layer, array_to_string(any_value(f.input_shape), 'x') AS input,
    count(DISTINCT g.op_id) / coalesce(any_value(g.per), 1) AS backward_calls,
    count(DISTINCT g.op_id) FILTER (g.direction = 'dgrad') / coalesce(any_value(g.per), 1) AS dgrad_calls,
    coalesce(any_value(d.dgrad_ns), 0) AS dgrad_ns,
    100.0 * coalesce(any_value(d.dgrad_ns), 0) / nullif(any_value(w.conv_ns), 0) AS conv_pct,
    100.0 * coalesce(any_value(d.dgrad_ns), 0) / nullif(any_value(s.step_ns), 0) AS step_pct,
    sum(g.flop / g.per) FILTER (g.direction = 'dgrad') AS dgrad_flop,
    100.0 * sum(g.flop / g.per) FILTER (g.direction = 'dgrad') / nullif(any_value(w.flop), 0) AS flop_pct
FROM first f
JOIN whole w ON w.rank = f.rank
JOIN scope s ON s.rank = f.rank
LEFT JOIN gradient g ON g.rank = f.rank
LEFT JOIN lost d ON d.rank = f.rank
GROUP BY f.rank, f.layer
ORDER BY f.rank, f.layer
