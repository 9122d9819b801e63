-- title = "The operators and frames one level deeper"
-- doc = "Those directly in one of `stack_level`."
SELECT n.id AS op_id, n.frame, hash(l.stack, n.frame) AS stack, l.stack AS above
FROM stack_node n JOIN stack_level l ON l.op_id = n.parent_id
