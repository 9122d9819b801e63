-- doc = """Operators in no module through which gradients flow, forward and backward: the loss, and what else a program
-- computes between its modules. None where no backward pass was recorded."""
-- [columns]
-- op_id = "the operator, or one inside it"
WITH RECURSIVE loose AS (
    SELECT id, parent_id, is_backward, forward_id FROM raw.ops
    WHERE layer IS NULL AND phase IS DISTINCT FROM 'optimizer' AND phase IS DISTINCT FROM 'data'
), climbed AS (
    SELECT id AS op_id, id, parent_id, forward_id FROM loose
    UNION ALL
    SELECT c.op_id, l.id, l.parent_id, l.forward_id FROM climbed c JOIN loose l ON l.id = c.parent_id
)
SELECT DISTINCT op_id FROM climbed
WHERE forward_id IS NOT NULL OR id IN (SELECT forward_id FROM loose WHERE is_backward)
