-- title = "Operators inside convolution calls and linear operators, level by level"
-- doc = """The outermost operators of convolution calls and all linear ones, each by its own id, and those inside them,
-- with the call and the linear one around each. By the nesting worked out before: of two operators that start in the
-- same tick the longer one is around the other. At most 100 are inside one another; seven were seen."""
WITH RECURSIVE inside AS (
    SELECT id, id AS call_id, NULL AS linear_id, forward_id, 1 AS depth FROM attributed.conv_op
    UNION ALL
    SELECT id, NULL, id, NULL, 1 FROM attributed.linear
    UNION ALL
    SELECT o.id, l.call_id, l.linear_id, o.forward_id, l.depth + 1
    FROM raw.ops o JOIN inside l ON l.id = o.parent_id WHERE l.depth < 100
)
SELECT id, call_id, linear_id, forward_id FROM inside
