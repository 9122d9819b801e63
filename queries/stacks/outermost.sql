-- title = "The outermost operators, or Python frames around them"
-- doc = "The first level of stacks."
-- [columns]
-- stack = "what stands for the names of this operator and all around it"
-- above = "that of the operator around it"
SELECT id AS op_id, frame, hash(frame) AS stack, CAST(NULL AS UBIGINT) AS above
FROM stack_node WHERE parent_id IS NULL
