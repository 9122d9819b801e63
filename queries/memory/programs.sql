-- title = "Programs of XLA"
-- doc = """Memory that XLA's compiler assigned to each program that ran, as the compiled program in the trace says: on
-- a CPU too, where no allocation is recorded. Parameters and inputs of the model are both arguments; what lives within
-- the program (activations, gradients, workspaces) shares the temporary buffer."""
-- cannot = "No program of XLA with its assignment of buffers was recorded."
-- leave_out = ["program", "aliased_bytes", "constant_bytes", "memory_space"]
-- top = 20
-- [headings]
-- temporary_pct = "of the total, temporary"
-- [columns]
-- rank = "process of the job"
-- module = "the program"
-- program = "its number"
-- memory_space = "memory that it is in: 0 is the device's own, 5 the host's"
-- arguments = "pieces of memory with arguments"
-- argument_bytes = "arguments: parameters and inputs"
-- aliased_bytes = "of these, arguments that hold a result as well (donated): not counted twice in the total"
-- output_bytes = "results, donated arguments too"
-- temporary_bytes = "temporary buffer"
-- constant_bytes = "constants"
-- total_bytes = "all of it at once"
-- temporary_pct = "of the total, temporary buffer"
WITH program AS (
    SELECT rank, module, program, memory_space, count(*) FILTER (parameter IS NOT NULL) AS arguments,
        coalesce(sum(size_bytes) FILTER (kind IN ('argument', 'aliased')), 0) AS argument_bytes,
        coalesce(sum(size_bytes) FILTER (kind = 'aliased'), 0) AS aliased_bytes,
        coalesce(sum(size_bytes) FILTER (kind IN ('output', 'aliased')), 0) AS output_bytes,
        coalesce(sum(size_bytes) FILTER (kind = 'temporary'), 0) AS temporary_bytes,
        coalesce(sum(size_bytes) FILTER (kind = 'constant'), 0) AS constant_bytes
    FROM program_buffers GROUP BY ALL
)
SELECT rank, module, program, memory_space, arguments, TRY_CAST(argument_bytes AS BIGINT) AS argument_bytes,
    TRY_CAST(aliased_bytes AS BIGINT) AS aliased_bytes, TRY_CAST(output_bytes AS BIGINT) AS output_bytes,
    TRY_CAST(temporary_bytes AS BIGINT) AS temporary_bytes, TRY_CAST(constant_bytes AS BIGINT) AS constant_bytes,
    TRY_CAST(argument_bytes - aliased_bytes + output_bytes + temporary_bytes + constant_bytes AS BIGINT) AS total_bytes,
    100.0 * temporary_bytes / nullif(total_bytes, 0) AS temporary_pct
FROM program
ORDER BY rank, total_bytes DESC, module, program, memory_space
