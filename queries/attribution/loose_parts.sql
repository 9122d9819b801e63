-- title = "attribution: kernels of calls without an operator, by their names"
-- doc = "Category and role of each by name, if the kernels around it said nothing."
SELECT l.id, n.category, n.algorithm, n.direction, n.role
FROM attributed.loose l JOIN raw.kernels k USING (id) JOIN names.kernel n
    ON n.name IS NOT DISTINCT FROM k.name AND n.op_path IS NOT DISTINCT FROM k.op_path
    AND n.phase IS NOT DISTINCT FROM k.phase
WHERE l.id NOT IN (SELECT id FROM attributed.part)
