-- doc = """Memory that XLA's compiler assigned to the programs that ran: of those of one module's name, where the
-- trace says which program an event is of, only these."""
-- empty_without = ["raw.program_buffers"]
-- types = """rank INTEGER, id BIGINT, module VARCHAR, program BIGINT, buffer BIGINT, size_bytes BIGINT, kind VARCHAR,
-- parameter BIGINT, label VARCHAR, memory_space BIGINT"""
WITH ran AS (
    SELECT rank, hlo_module AS module, hlo_program AS program FROM raw.ops WHERE hlo_program IS NOT NULL
    UNION
    SELECT rank, hlo_module, hlo_program FROM raw.kernels WHERE hlo_program IS NOT NULL
)
SELECT b.rank, b.id, b.module, b.program, b.buffer, b.size_bytes, b.kind, b.parameter, b.label, b.memory_space
FROM raw.program_buffers b
LEFT JOIN ran r ON r.rank = b.rank AND r.module = b.module AND r.program = b.program
WHERE r.module IS NOT NULL OR (b.rank, b.module) NOT IN (SELECT (rank, module) FROM ran WHERE module IS NOT NULL)
