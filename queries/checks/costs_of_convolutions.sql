-- doc = "Convolution calls whose FLOP differ between conv_calls and op_costs."
-- [columns]
-- flop = "of all passes of the call, as conv_calls has it"
-- matrix_flop = "as op_costs has it"
WITH call AS (
    SELECT op_id, sum(flop) AS flop FROM conv_calls GROUP BY op_id
    HAVING count(flop) = count(*) AND bool_and(direction IS NOT NULL)
), cost AS (
    SELECT coalesce(a.call_id, c.op_id) AS op_id, sum(c.matrix_flop) AS matrix_flop
    FROM op_costs c LEFT JOIN attributed.op a ON a.id = c.op_id WHERE c.family = 'conv' GROUP BY 1
)
SELECT op_id, flop, matrix_flop FROM call JOIN cost USING (op_id) WHERE flop <> matrix_flop
ORDER BY op_id
