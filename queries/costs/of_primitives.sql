-- doc = "Primitives with a model, each with the number of its cost."
SELECT p.id, p.name AS op_name, nullif(regexp_extract(r.prop_kind, '^(backward|forward)'), '') AS direction, p.number
FROM (SELECT unnest(ids) AS id, name, number FROM costed.problem WHERE is_primitive) p
JOIN raw.primitives r ON r.id = p.id
