-- doc = "Primitives with a model: the cost of each, or the reason why it has none."
SELECT p.id, p.name AS op_name, nullif(regexp_extract(r.prop_kind, '^(backward|forward)'), '') AS direction,
    k.model, k.family, k.dtype, k.matrix_flop, k.executed_flop, k.vector_flop, k.bytes, k.how, k.reason
FROM (SELECT unnest(ids) AS id, name, number FROM costed.problem WHERE is_primitive) p
JOIN raw.primitives r ON r.id = p.id JOIN costed.cost k ON k.number = p.number
