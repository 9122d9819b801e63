-- doc = "Ranks whose convolutions have other FLOP in conv_calls than in op_costs, where all of them are known."
-- [columns]
-- flop = "of all calls, as conv_calls has it"
-- matrix_flop = "as op_costs has it"
WITH call AS (
    SELECT rank, sum(flop) AS flop FROM conv_calls GROUP BY rank
    HAVING count(flop) = count(*) AND bool_and(direction IS NOT NULL)
), cost AS (
    SELECT rank, sum(matrix_flop) AS matrix_flop FROM op_costs WHERE family = 'conv' GROUP BY rank
)
SELECT rank, flop, matrix_flop FROM call JOIN cost USING (rank) WHERE flop <> matrix_flop
ORDER BY rank
