-- doc = """Cost of each different call. Where it cannot be known, everything is NULL and the reason is said."""
WITH said AS (
    SELECT r.* REPLACE (if(p.has_sparse, 'a tensor is not dense: how much of it is stored is not recorded', r.reason)
        AS reason), p.is_told
    FROM costed.raw r JOIN costed.problem p ON p.number = r.number
), judged AS (
    -- A damaged padding or size makes a cost negative.
    SELECT *, least(matrix_flop, executed_flop, vector_flop) < 0 IS NOT TRUE AND reason IS NULL
        AND coalesce(bytes >= 0, matrix_flop > 0, false) AS is_known FROM said
)
SELECT number, model, family, direction, is_wrapper, dtype, is_known,
    if(is_known, matrix_flop, NULL) AS matrix_flop, if(is_known, executed_flop, NULL) AS executed_flop,
    if(is_known, vector_flop, NULL) AS vector_flop, if(is_known AND bytes >= 0, bytes, NULL) AS bytes,
    if(is_known, concat_ws('; ', coalesce(rests_on, if(family = 'compiled', 'kernel arguments', 'shapes')),
        if(is_assumed, 'elements of lists taken for float', NULL),
        if(is_told, 'sizes of elements as the names of its kernels tell', NULL)), NULL) AS how,
    CASE WHEN is_known THEN NULL
        ELSE coalesce(reason, 'shapes, types or values of its arguments are not recorded') END AS reason
FROM judged
