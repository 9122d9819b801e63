-- title = "Arguments of programs of XLA"
-- doc = """Arguments of the programs that ran, by the name of the argument of the user's function: all that is in it
-- together (`params` for `params['conv1']['w']`). Parameters, optimizer state and inputs are told apart by these names
-- alone."""
-- cannot = "No program of XLA with its assignment of buffers was recorded."
-- leave_out = ["program", "donated_bytes"]
-- top = 20
-- rest = ["pieces", "size_bytes", "donated_bytes"]
-- [headings]
-- argument_pct = "of the program's arguments"
-- [columns]
-- rank = "process of the job"
-- module = "the program"
-- program = "its number"
-- argument = "name, as recorded, up to the first bracket or dot; empty where none was"
-- pieces = "pieces of memory"
-- size_bytes = "their bytes"
-- donated_bytes = "of these, donated: they hold a result as well"
-- argument_pct = "of all arguments of the program"
SELECT rank, module, program, nullif(regexp_extract(label, '^[^\[.]+'), '') AS argument, count(*) AS pieces,
    TRY_CAST(sum(b.size_bytes) AS BIGINT) AS size_bytes,
    coalesce(TRY_CAST(sum(b.size_bytes) FILTER (kind = 'aliased') AS BIGINT), 0) AS donated_bytes,
    100.0 * sum(b.size_bytes) / nullif(sum(sum(b.size_bytes)) OVER (PARTITION BY rank, module, program), 0)
        AS argument_pct
FROM program_buffers b WHERE kind IN ('argument', 'aliased')
GROUP BY rank, module, program, argument
ORDER BY rank, size_bytes DESC, module, program, argument
