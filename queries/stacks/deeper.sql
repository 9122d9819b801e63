-- title = "The operators one level deeper"
-- doc = "Operators directly in one of `stack_level`."
-- [params]
-- depth = { type = "BIGINT", doc = "how many operators are around them" }
SELECT o.id AS op_id, coalesce(o.name, '') AS frame, hash(l.stack, coalesce(o.name, '')) AS stack, l.stack AS above
FROM raw.ops o JOIN stack_level l ON l.op_id = o.parent_id WHERE o.depth = $depth
