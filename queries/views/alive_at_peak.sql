-- doc = "Allocations that were alive when most memory was allocated on their device."
-- empty_without = ["raw.allocations"]
-- types = """id BIGINT, rank INTEGER, device BIGINT, size_bytes BIGINT, allocated_ns BIGINT, freed_ns BIGINT,
-- how VARCHAR, kind VARCHAR, is_guessed BOOLEAN, label VARCHAR, op_id BIGINT, op_name VARCHAR, layer VARCHAR,
-- phase VARCHAR, step BIGINT, file VARCHAR, line INTEGER, peak_bytes BIGINT, peak_ns BIGINT, peak_phase VARCHAR,
-- peak_step BIGINT, program VARCHAR"""
SELECT a.id, a.rank, a.device, a.size_bytes, a.allocated_ns, a.freed_ns, a.how, a.kind, a.is_guessed, a.label, a.op_id,
    a.op_name, a.layer, a.phase, a.step, a.file, a.line, p.peak_bytes, p.at_ns AS peak_ns, p.phase AS peak_phase,
    p.step AS peak_step, a.program
FROM allocations a
JOIN memory_peaks p ON p.rank = a.rank AND p.device IS NOT DISTINCT FROM a.device
WHERE (a.allocated_ns IS NULL OR a.allocated_ns < p.at_ns OR (a.allocated_ns = p.at_ns AND a.id <= p.number))
    AND (a.freed_ns IS NULL OR p.at_ns IS NULL OR a.freed_ns > p.at_ns
        OR (a.freed_ns = p.at_ns AND a.freed_id > p.number))
