-- doc = """Calls of operators with a cost, of those that reports per step count, with the time that was spent on each
-- and the least that its device allows (op_rooflines). Copies outside of operators and collectives are left out."""
-- materialize = true
-- [columns]
-- op_id = "the operator"
-- pid = "process that called it"
-- tid = "thread that called it"
-- start_ns = "start of the call on that thread"
-- own_ns = """time per step of everything that it did on the device, less what overlaps work that started earlier on
-- the same device; over the devices of the rank"""
-- floor_ns = "least time per step by the peaks, at most own_ns; NULL where a peak or the cost is unknown"
-- n_kernels = "kernels per step, or operators of a CPU"
-- least_ns = "shortest of them"
-- kernel = "longest of them"
-- per = "what is divided by for a number per step; of a call that a graph replays less, as often as it ran"
WITH kernel AS MATERIALIZED (
    -- There are few names: what is long is looked up at the end.
    SELECT name, hash(name) AS number FROM (SELECT DISTINCT name FROM performed)
), several AS MATERIALIZED (
    -- Of a call with one row, as nearly all are, nothing has to be chosen.
    SELECT op_id FROM op_costs WHERE op_id IS NOT NULL GROUP BY op_id HAVING count(*) > 1
), rated AS MATERIALIZED (
    SELECT * FROM op_rooflines WHERE how <> 'the profiler''s record' AND op_id IN (FROM several)
), named AS (
    SELECT rank, op_id, model, count(*) AS times, max(busy_ns) AS busy_ns FROM rated GROUP BY rank, op_id, model
), longest AS (
    SELECT rank, op_id, arg_max(model, busy_ns) AS model, arg_max(times, busy_ns) AS times, max(busy_ns) AS busy_ns
    FROM named GROUP BY rank, op_id
), call AS (
    SELECT *, 1 AS times FROM op_rooflines WHERE how <> 'the profiler''s record' AND op_id NOT IN (FROM several)
    UNION ALL BY NAME
    -- Of equal rows of a call, as when it was replayed, one.
    SELECT r.*, l.times FROM (SELECT DISTINCT ON (op_id, model, busy_ns) * FROM rated) r
    JOIN longest l ON l.op_id = r.op_id AND l.model IS NOT DISTINCT FROM r.model AND l.busy_ns = r.busy_ns
), spent AS (
    SELECT m.call_id AS op_id, any_value(c.per) AS per, any_value(c.step_ns) AS step_ns,
        sum(c.mean_ns / c.per) AS own_ns, sum(1.0 / c.per) AS n_kernels, min(c.dur_ns) AS least_ns,
        arg_max(hash(c.name), c.dur_ns) AS longest
    FROM counted c JOIN op_calls m ON m.op_id = c.op_id
    GROUP BY m.call_id
)
SELECT c.rank, c.op_id, o.pid, o.tid, o.start_ns, c.op_name, c.family, c.direction, c.dtype, c.matrix_flop,
    c.vector_flop, c.bytes, c.is_recompute, c.module, c.step, c.peak_flop_per_s, c.vector_flop_per_s,
    if(c.is_copy_rate, NULL, c.memory_bytes_per_s) AS memory_bytes_per_s, s.own_ns,
    if(c.sure_ns / (s.per / c.times) > s.own_ns, s.own_ns, c.sure_ns / (s.per / c.times)) AS floor_ns,
    s.n_kernels, s.least_ns, k.name AS kernel, s.per / c.times AS per, s.step_ns
FROM spent s JOIN call c ON c.op_id = s.op_id JOIN kernel k ON k.number = s.longest JOIN raw.ops o ON o.id = s.op_id
