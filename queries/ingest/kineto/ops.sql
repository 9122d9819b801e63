-- title = "Kineto: operators"
-- doc = "Operators that PyTorch ran on the host, as it recorded them."
-- [args]
-- "Input Dims" = "VARCHAR"
-- "Input Strides" = "VARCHAR"
-- "Input type" = "VARCHAR"
-- "Concrete Inputs" = "VARCHAR"
-- "External id" = "BIGINT"
-- "Sequence number" = "BIGINT"
-- "Fwd thread id" = "BIGINT"
-- "Call stack" = "VARCHAR"
-- "Module Hierarchy" = "VARCHAR"
-- "kernel_file" = "VARCHAR"
-- "kernel_kwargs" = "VARCHAR"
-- "num_warps" = "VARCHAR"
-- "num_stages" = "VARCHAR"
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, pid, tid, name,
    args."Input Dims" AS shapes,
    args."Input Strides" AS strides,
    args."Input type" AS types,
    args."Concrete Inputs" AS inputs,
    args."External id" AS external_id,
    args."Sequence number" AS sequence,
    nullif(args."Fwd thread id", 0) AS forward_thread,
    args."Call stack" AS call_stack,
    args."Module Hierarchy" AS module_hierarchy,
    nullif(args.kernel_file, '') AS code_file,
    nullif(concat_ws(', ', nullif(replace(args.kernel_kwargs, ',', ', '), ''), 'num_warps=' || args.num_warps,
        'num_stages=' || args.num_stages), '') AS code_config
FROM event
WHERE goes_to = 'ops'
