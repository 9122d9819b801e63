-- doc = "The moment at which most memory was allocated on each device of a rank, and what was allocated then."
-- materialize = true
-- empty_without = ["raw.allocations"]
-- types = """rank INTEGER, device BIGINT, at_ns BIGINT, number BIGINT, id BIGINT, peak_bytes BIGINT, op_name VARCHAR,
-- layer VARCHAR, phase VARCHAR, step BIGINT, file VARCHAR, line INTEGER"""
-- [columns]
-- at_ns = "when; NULL where it was most when recording began"
-- number = "number of its event"
-- id = "the allocation with which it was reached"
-- op_name = "operator of that allocation"
SELECT e.rank, e.device, e.at_ns, e.number, e.id, e.sum_bytes AS peak_bytes, a.op_name, a.layer, a.phase, a.step,
    a.file, a.line
FROM (
    FROM memory_events
    QUALIFY row_number() OVER (PARTITION BY rank, device ORDER BY sum_bytes DESC, at_ns NULLS FIRST, number, place) = 1
) e LEFT JOIN allocations a ON a.id = e.id AND e.at_ns IS NOT NULL
