-- title = "Operators one level further down"
-- doc = """Operators directly in one of `attributed.level`, with the call and the linear one around each. By the
-- nesting worked out before: of two operators that start in the same tick the longer one is around the other."""
SELECT o.id, l.call_id, l.linear_id, o.forward_id FROM raw.ops o JOIN attributed.level l ON l.id = o.parent_id
