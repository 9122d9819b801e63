-- doc = """Operators with activities that reports per step count, each with the call of op_costs that it is part of:
-- the last one on its thread that began before it, if that had not ended. Copies outside of operators and collectives
-- are not such calls."""
-- materialize = true
-- [columns]
-- op_id = "the operator"
-- call_id = "operator of the call, which may be the same"
WITH call AS (
    SELECT id, rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE id IN (SELECT op_id FROM op_rooflines WHERE how <> 'the profiler''s record')
), work AS (
    SELECT id, rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE id IN (SELECT op_id FROM counted)
)
SELECT w.id AS op_id, c.id AS call_id
FROM work w ASOF JOIN call c ON c.rank = w.rank AND c.pid IS NOT DISTINCT FROM w.pid
    AND c.tid IS NOT DISTINCT FROM w.tid AND w.start_ns >= c.start_ns
WHERE w.end_ns <= c.end_ns
