-- title = "Operators one level further down"
-- doc = """Of those directly in one of `attributed.level`, with the id of the one at which it began. By the
-- nesting that was worked out before: of two operators that start in the same tick the longer one is around the
-- other."""
SELECT o.id, l.call_id, l.linear_id, o.forward_id FROM raw.ops o JOIN attributed.level l ON l.id = o.parent_id
