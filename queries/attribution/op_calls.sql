-- title = "Operators inside a convolution call"
-- doc = """Every operator at or below an outermost convolution operator, with the id of that operator. One around it
-- may start in the same tick."""
SELECT o.id, c.id AS call_id
FROM raw.ops o ASOF JOIN attributed.conv_op c
    ON o.rank = c.rank AND o.pid IS NOT DISTINCT FROM c.pid AND o.tid IS NOT DISTINCT FROM c.tid
        AND o.start_ns >= c.start_ns
WHERE o.id = c.id OR o.start_ns < c.end_ns AND (o.start_ns > c.start_ns OR o.start_ns + o.dur_ns <= c.end_ns)
