-- title = "The outermost operators"
-- doc = "The first level of stacks."
-- [columns]
-- stack = "what stands for the names of this operator and all around it"
-- above = "that of the operator around it"
SELECT id AS op_id, coalesce(name, '') AS frame, hash(coalesce(name, '')) AS stack, CAST(NULL AS UBIGINT) AS above
FROM raw.ops WHERE depth = 0
