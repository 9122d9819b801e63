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
-- ids = "their rows"
-- per = "what is divided by for a number per step; of a call that a graph replays less, as often as it ran"
WITH kernel AS MATERIALIZED (
    -- There are few names: what is long is looked up at the end.
    SELECT name, row_number() OVER () AS number FROM (SELECT DISTINCT name FROM performed)
), named AS (
    SELECT rank, op_id, model, count(*) AS times, max(busy_ns) AS busy_ns
    FROM op_rooflines WHERE how <> 'the profiler''s record' GROUP BY rank, op_id, model
), call AS (
    -- No more than places the work: with all columns this takes twice the memory.
    SELECT n.*, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns
    FROM (SELECT rank, op_id, arg_max(model, busy_ns) AS model, arg_max(times, busy_ns) AS times,
            max(busy_ns) AS busy_ns
        FROM named GROUP BY rank, op_id) n
    JOIN raw.ops o ON o.id = n.op_id
), work AS (
    SELECT c.rank, c.id, c.dur_ns, c.mean_ns, c.per, c.step_ns, k.number, o.pid, o.tid, o.start_ns AS at_ns
    FROM counted c JOIN kernel k ON k.name IS NOT DISTINCT FROM c.name JOIN raw.ops o ON o.id = c.op_id
), spent AS (
    SELECT c.op_id, any_value(c.model) AS model, any_value(c.busy_ns) AS busy_ns, any_value(c.pid) AS pid,
        any_value(c.tid) AS tid, any_value(c.start_ns) AS start_ns,
        any_value(w.per) / any_value(c.times) AS per, any_value(w.step_ns) AS step_ns,
        sum(w.mean_ns / w.per) AS own_ns,
        sum(1.0 / w.per) AS n_kernels, min(w.dur_ns) AS least_ns, arg_max(w.number, w.dur_ns) AS longest,
        list(w.id) AS ids
    FROM work w ASOF JOIN call c ON c.rank = w.rank AND c.pid IS NOT DISTINCT FROM w.pid
        AND c.tid IS NOT DISTINCT FROM w.tid AND w.at_ns >= c.start_ns
    WHERE w.at_ns < c.end_ns
    GROUP BY c.op_id
), once AS (
    -- Of equal rows of a call, as when it was replayed, one.
    SELECT * FROM op_rooflines
    WHERE how <> 'the profiler''s record' AND op_id NOT IN (SELECT op_id FROM named WHERE times > 1)
    UNION ALL
    SELECT DISTINCT ON (op_id, model, busy_ns) * FROM op_rooflines
    WHERE how <> 'the profiler''s record' AND op_id IN (SELECT op_id FROM named WHERE times > 1)
)
SELECT c.rank, c.op_id, s.pid, s.tid, s.start_ns, c.op_name, c.family, c.direction, c.dtype, c.matrix_flop,
    c.vector_flop, c.bytes, c.is_recompute, c.module, c.step, c.peak_flop_per_s, c.vector_flop_per_s,
    if(c.is_copy_rate, NULL, c.memory_bytes_per_s) AS memory_bytes_per_s, s.own_ns,
    if(c.sure_ns / s.per > s.own_ns, s.own_ns, c.sure_ns / s.per) AS floor_ns,
    s.n_kernels, s.least_ns, k.name AS kernel, s.ids, s.per, s.step_ns
FROM spent s JOIN once c ON c.op_id = s.op_id AND c.model IS NOT DISTINCT FROM s.model AND c.busy_ns = s.busy_ns
JOIN kernel k ON k.number = s.longest
