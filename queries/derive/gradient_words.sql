-- title = "Which names are those of operators of the backward pass"
-- doc = "One row per name in `op_word`, in order of their numbers."
SELECT coalesce(regexp_matches(name,
    'Backward\d*$|^_backward_|^autograd::engine|(^|/)gradient(_tape|s)/|[(/]transpose[(]'), false) AS is_gradient
FROM op_word ORDER BY number
