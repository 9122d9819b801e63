-- title = "Linear operators"
-- doc = "Fully connected operators of ranks without a recorded layer, by which it can be guessed."
SELECT id, rank, step, start_ns, parent_id, forward_id, is_backward, name, shapes,
    regexp_matches(name, '^(Addmm|Linear)Backward\d*$') AS is_gradient
FROM raw.ops
WHERE (name LIKE '%linear' OR name LIKE '%addmm%' OR name LIKE 'Addmm%' OR name LIKE 'Linear%')
    AND regexp_matches(name, '^aten::(linear|addmm|_addmm_activation)$|^(Addmm|Linear)Backward\d*$')
    AND rank IN (SELECT rank FROM raw.ops GROUP BY rank HAVING count(layer) = 0)
