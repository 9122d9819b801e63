-- title = "XPlane: what is known of XLA instructions"
-- doc = """One row per program, module and instruction; without a program's number, what all programs of that module
-- name agree on. Metadata without a slash names an argument of the program, not an operator."""
WITH named AS (
    SELECT * REPLACE (CASE WHEN contains(op_name, '/') THEN op_name END AS op_name),
        CASE WHEN parameter IS NOT NULL THEN nullif(op_name, '') END AS label
    FROM hlo
)
SELECT program, module, instruction, any_value(op_name) AS op_name, any_value(kind) AS kind,
    any_value(works_for) AS works_for,
    any_value(shapes) AS shapes, any_value(inputs) AS inputs, any_value(types) AS types,
    any_value(output_shapes) AS output_shapes, any_value(call_stack) AS call_stack, any_value(cost) AS cost,
    any_value(parameter) AS parameter, any_value(label) AS label
FROM named WHERE program IS NOT NULL GROUP BY ALL
UNION ALL BY NAME
SELECT NULL AS program, module, instruction, any_value(op_name) AS op_name,
    CASE WHEN count(DISTINCT kind) = 1 THEN any_value(kind) END AS kind,
    CASE WHEN count(DISTINCT works_for) = 1 THEN any_value(works_for) END AS works_for,
    CASE WHEN count(DISTINCT shapes) = 1 THEN any_value(shapes) END AS shapes,
    CASE WHEN count(DISTINCT inputs) = 1 THEN any_value(inputs) END AS inputs,
    CASE WHEN count(DISTINCT types) = 1 THEN any_value(types) END AS types,
    CASE WHEN count(DISTINCT output_shapes) = 1 THEN any_value(output_shapes) END AS output_shapes,
    CASE WHEN count(DISTINCT call_stack) = 1 THEN any_value(call_stack) END AS call_stack,
    CASE WHEN count(DISTINCT cost) = 1 THEN any_value(cost) END AS cost,
    any_value(parameter) AS parameter, any_value(label) AS label
FROM named GROUP BY module, instruction HAVING count(DISTINCT op_name) <= 1
