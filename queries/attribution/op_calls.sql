-- title = "Operators inside a convolution call"
-- doc = "Every operator at or below an outermost convolution operator, with the id of that operator."
SELECT o.id, c.id AS call_id
FROM raw.ops o ASOF JOIN attributed.conv_op c
    ON o.rank = c.rank AND o.pid = c.pid AND o.tid = c.tid AND o.start_ns >= c.start_ns
WHERE o.start_ns < c.end_ns OR o.id = c.id
