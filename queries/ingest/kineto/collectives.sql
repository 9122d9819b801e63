-- title = "Kineto: collectives"
-- doc = "NCCL kernels carry the arguments of the call; gloo's work is an annotation on its own thread."
SELECT
    id + 1 AS id,
    start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    lower(coalesce(args."Collective name", regexp_extract(name, '^(?:gloo|nccl|mpi|ucc):(.*)$', 1))) AS kind,
    CASE WHEN cat = 'kernel' THEN id END AS kernel_id,
    args."In msg nelems" AS n_elements,
    args.dtype AS dtype,
    args."In msg nelems" * CASE lower(args.dtype)
        WHEN 'float' THEN 4 WHEN 'double' THEN 8 WHEN 'half' THEN 2 WHEN 'bfloat16' THEN 2 WHEN 'long' THEN 8
        WHEN 'int' THEN 4 WHEN 'short' THEN 2 WHEN 'byte' THEN 1 WHEN 'char' THEN 1 WHEN 'bool' THEN 1 END AS size_bytes,
    args."Process Group Name" AS group_name,
    args."Group size" AS group_size,
    args."Seq" AS sequence
FROM (
    SELECT *, from_json(line, '{"args": {
        "Collective name": "VARCHAR", "In msg nelems": "BIGINT", "dtype": "VARCHAR", "Group size": "BIGINT",
        "Process Group Name": "VARCHAR", "Seq": "BIGINT"}}').args AS args
    FROM event
    WHERE ph = 'X' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
        AND ((cat = 'kernel' AND contains(lower(name), 'ccl')) OR (cat = 'user_annotation' AND regexp_matches(name, '^(gloo|mpi|ucc):')))
)
WHERE cat <> 'kernel' OR args."Collective name" IS NOT NULL
