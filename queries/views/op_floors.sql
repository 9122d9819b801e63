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
WITH call AS (
    SELECT o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, r.*,
        count(*) OVER (PARTITION BY r.op_id, r.model) AS times
    FROM op_rooflines r JOIN raw.ops o ON o.id = r.op_id
    WHERE r.how <> 'the profiler''s record'
    QUALIFY row_number() OVER (PARTITION BY r.op_id ORDER BY r.busy_ns DESC) = 1
), work AS (
    SELECT c.rank, c.id, c.name, c.dur_ns, c.mean_ns, c.per, c.step_ns, o.pid, o.tid, o.start_ns AS at_ns
    FROM counted c JOIN raw.ops o ON o.id = c.op_id
), spent AS (
    SELECT c.op_id, any_value(w.per) / any_value(c.times) AS per, any_value(w.step_ns) AS step_ns,
        sum(w.mean_ns / w.per) AS own_ns,
        sum(1.0 / w.per) AS n_kernels, min(w.dur_ns) AS least_ns, arg_max(w.name, w.dur_ns) AS kernel,
        list(w.id) AS ids
    FROM work w ASOF JOIN call c ON c.rank = w.rank AND c.pid IS NOT DISTINCT FROM w.pid
        AND c.tid IS NOT DISTINCT FROM w.tid AND w.at_ns >= c.start_ns
    WHERE w.at_ns < c.end_ns
    GROUP BY c.op_id
)
SELECT c.rank, c.op_id, c.pid, c.tid, c.start_ns, c.op_name, c.family, c.direction, c.dtype, c.matrix_flop,
    c.vector_flop, c.bytes, c.is_recompute, c.module, c.step, c.peak_flop_per_s, c.vector_flop_per_s,
    if(c.is_copy_rate, NULL, c.memory_bytes_per_s) AS memory_bytes_per_s, s.own_ns,
    if(c.sure_ns / s.per > s.own_ns, s.own_ns, c.sure_ns / s.per) AS floor_ns,
    s.n_kernels, s.least_ns, s.kernel, s.ids, s.per, s.step_ns
FROM spent s JOIN call c ON c.op_id = s.op_id
