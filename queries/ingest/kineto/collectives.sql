-- title = "Kineto: collectives"
-- doc = """NCCL kernels of newer traces carry the arguments of the call; gloo's work is an annotation on a thread of
-- its own, with the shapes of the tensors it was given where shapes were recorded. Such an annotation with shapes
-- stands around the launch of an NCCL kernel, too: it is taken where kernels carry no arguments."""
-- [args]
-- "Collective name" = "VARCHAR"
-- "In msg nelems" = "BIGINT"
-- dtype = "VARCHAR"
-- "Group size" = "BIGINT"
-- "Process Group Name" = "VARCHAR"
-- "Process Group Ranks" = "VARCHAR"
-- "Process Group Description" = "VARCHAR"
-- Seq = "BIGINT"
-- "Input Dims" = "VARCHAR"
-- "Input type" = "VARCHAR"
SELECT
    id + 1 AS id, start_ns, dur_ns, name, kind, kernel_id, n_elements, dtype,
    TRY(n_elements * CASE regexp_replace(lower(dtype), '^float8_\w+$', 'float8')
        WHEN 'float' THEN 4 WHEN 'double' THEN 8 WHEN 'half' THEN 2 WHEN 'bfloat16' THEN 2 WHEN 'long' THEN 8
            WHEN 'long int' THEN 8
        WHEN 'int' THEN 4 WHEN 'short' THEN 2 WHEN 'short int' THEN 2 WHEN 'byte' THEN 1 WHEN 'unsigned char' THEN 1
        WHEN 'char' THEN 1 WHEN 'signed char' THEN 1 WHEN 'bool' THEN 1 WHEN 'float8' THEN 1 END) AS size_bytes,
    group_name, group_size, group_ranks, group_description, sequence
FROM (
    SELECT id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
        lower(coalesce(args."Collective name", regexp_extract(name, '^(?:gloo|nccl|mpi|ucc):(.*)$', 1))) AS kind,
        CASE WHEN goes_to = 'kernels' THEN id END AS kernel_id,
        -- A tensor without dimensions has one element; a call without tensors (a barrier) has no type either.
        coalesce(args."In msg nelems", CASE WHEN goes_to <> 'kernels'
            AND len(types) > 0 THEN TRY_CAST(list_sum(list_transform(
            TRY_CAST(TRY(CAST(args."Input Dims" AS JSON)) AS BIGINT[][]),
            lambda d: coalesce(list_product(d), 1))) AS BIGINT) END)
            AS n_elements,
        coalesce(args.dtype, CASE WHEN goes_to <> 'kernels' AND len(list_distinct(types)) = 1
            THEN regexp_replace(types[1], '^c10::', '') END) AS dtype,
        args."Process Group Name" AS group_name, args."Group size" AS group_size,
        args."Process Group Ranks" AS group_ranks, args."Process Group Description" AS group_description,
        args."Seq" AS sequence
    FROM (
        SELECT *, TRY(from_json(args."Input type", '["VARCHAR"]')) AS types
        FROM event
        WHERE (goes_to = 'kernels' AND contains(lower(name), 'ccl'))
            OR (goes_to = 'ranges' AND cat = 'user_annotation' AND regexp_matches(name, '^(gloo|mpi|ucc):'))
            OR (goes_to = 'ranges' AND cat = 'user_annotation' AND name LIKE 'nccl:%'
                AND args."Input type" IS NOT NULL)
    )
    WHERE goes_to <> 'kernels' OR args."Collective name" IS NOT NULL
)
