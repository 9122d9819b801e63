-- title = "XPlane: those operators as rows"
-- doc = "Ids follow the ones already given; the scope is worked out as for operators on host threads."
SELECT $first + row_number() OVER (ORDER BY start_ns, pid, tid) - 1 AS id, l.*,
    c.kind AS hlo_kind, c.works_for AS module_hierarchy, c.shapes, c.inputs, c.types, c.output_shapes,
    c.call_stack, c.cost AS hlo_cost
FROM launched l LEFT JOIN compiled c ON c.program IS NULL AND c.module = l.hlo_module AND c.instruction = l.hlo_op
