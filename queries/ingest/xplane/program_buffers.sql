-- title = "XPlane: memory that XLA's compiler assigned to programs"
-- doc = """A row for each BufferAllocationProto. Those that hold an argument and a result are of a donated argument; a
-- constant is one that is neither; what is left and is not a thread's own is the program's temporary buffer."""
SELECT b.module, b.program, b.buffer, b.size_bytes,
    CASE WHEN b.is_argument <> 0 THEN if(b.is_output <> 0, 'aliased', 'argument') WHEN b.is_output <> 0 THEN 'output'
        WHEN b.is_constant <> 0 THEN 'constant' WHEN b.is_thread_local <> 0 THEN 'thread_local' ELSE 'temporary'
    END AS kind,
    if(b.is_argument <> 0, b.parameter, NULL) AS parameter, c.label, b.memory_space
FROM assigned b LEFT JOIN compiled c ON b.is_argument <> 0 AND c.module = b.module
    AND c.program IS NOT DISTINCT FROM b.program AND c.parameter = CAST(b.parameter AS VARCHAR)
ORDER BY b.module, b.program, b.buffer
