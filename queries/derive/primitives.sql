-- title = "Derived columns of a library's primitives"
-- doc = "From the operator that was chosen for each (`primitive_facts`); `op_link` says how, or why there is none."
SELECT f.id, f.op_id,
    CASE f.reason WHEN 1 THEN 'time' WHEN 2 THEN 'several at once' WHEN 3 THEN 'none of its kind' END AS op_link,
    o.name AS op_name, d.path AS op_path, d.layer, d.phase, f.step, o.pid, o.tid
FROM primitive_facts f LEFT JOIN stage.ops o ON o.id = f.op_id LEFT JOIN derived.ops d ON d.id = f.op_id
