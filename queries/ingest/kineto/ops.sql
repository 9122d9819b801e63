-- title = "Kineto: operators"
-- doc = "Old files keep annotations among the operators; their names contain a #."
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, pid, tid, name,
    args."Input Dims" AS shapes,
    args."Input Strides" AS strides,
    args."Input type" AS types,
    args."Concrete Inputs" AS inputs,
    TRY_CAST(args."External id" AS BIGINT) AS external_id,
    TRY_CAST(args."Sequence number" AS BIGINT) AS sequence,
    nullif(TRY_CAST(args."Fwd thread id" AS BIGINT), 0) AS forward_thread,
    args."Call stack" AS call_stack,
    args."Module Hierarchy" AS module_hierarchy
FROM event
WHERE ph = 'X' AND (cat = 'cpu_op' OR (cat = 'operator' AND NOT contains(name, '#')))
    AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
