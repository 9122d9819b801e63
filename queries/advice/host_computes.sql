-- title = "The device waits while the host computes"
-- doc = """Idle time of the device inside steps in which the thread that launches was inside operators that compute and
-- launch nothing: random numbers, indexing, metrics or preprocessing on the CPU. Time of loading data, allocating,
-- communicating and waiting for the device is not counted. The bound is that time, averaged over the devices of a rank;
-- of each device the 2,000 longest gaps are looked at."""
-- why = """The thread that feeds the device works itself: until it is done, nothing is launched. The same tensor made
-- on the device, made ahead by another process, or made once and kept, leaves the thread free."""
-- cost = "Device memory for what is made there; other random numbers than those of the CPU."
-- unless = "The values have to be the CPU's own, bit for bit, or are needed on the host."
-- needs = ["launches"]
-- [fix]
-- pytorch = """make the tensor where it is used (torch.randn(..., device='cuda'), index and compute after
-- .to(device)), in the workers of a DataLoader, or once before the loop"""
-- jax = "compute it inside of the jitted function (jax.random), or before the loop"
-- tensorflow = "compute it inside of tf.function on the device, or in the tf.data pipeline with prefetch"
-- any = "compute it on the device, or ahead in another process"
-- [params]
-- least_us = { type = "DOUBLE", default = 200, doc = "shorter operators and gaps are left out, in microseconds" }
-- computing_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH gap AS (
    SELECT g.rank, g.device, g.from_ns, g.until_ns, a.pid, a.tid,
        g.between_steps_ns + g.launch_ns + g.unknown_ns AS free_ns
    FROM idle_gaps g
    JOIN (SELECT id, launch_id FROM raw.kernels UNION ALL SELECT id, launch_id FROM raw.memcpys) k ON k.id = g.id
    JOIN raw.api_calls a ON a.id = k.launch_id
    WHERE free_ns > 1000 * $least_us
    QUALIFY row_number() OVER (PARTITION BY g.rank, g.device ORDER BY free_ns DESC, g.from_ns) <= 2000
), quiet AS (
    SELECT o.id, o.rank, o.pid, o.tid, o.name, o.start_ns, o.end_ns, o.category
    FROM ops o ASOF LEFT JOIN raw.api_calls a ON a.rank = o.rank AND a.pid IS NOT DISTINCT FROM o.pid
        AND a.tid IS NOT DISTINCT FROM o.tid AND a.start_ns >= o.start_ns
    WHERE o.dur_ns > 1000 * $least_us AND (a.start_ns IS NULL OR a.start_ns >= o.end_ns)
), work AS (
    -- The outermost of those that compute, not those that only make, view or hand on a tensor.
    SELECT * FROM quiet
    WHERE category NOT IN ('other', 'bookkeeping', 'communication', 'optimizer') AND NOT regexp_matches(name,
        'empty|resize|strided|reshape|flatten|view|detach|narrow|result_type|::(to|_to_copy|set_|item)\b|Backward|Grad')
    QUALIFY coalesce(start_ns >= max(end_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), met AS (
    SELECT g.rank, g.device, g.from_ns, g.free_ns, w.name,
        sum(least(g.until_ns, w.end_ns) - greatest(g.from_ns, w.start_ns)) AS dur_ns, count(*) AS n
    FROM gap g JOIN work w ON w.rank = g.rank AND w.pid IS NOT DISTINCT FROM g.pid
        AND w.tid IS NOT DISTINCT FROM g.tid AND w.start_ns < g.until_ns AND w.end_ns > g.from_ns
    GROUP BY ALL
), part AS (
    -- A gap may reach out of the steps that count, and hold waits of another cause.
    SELECT *, dur_ns * least(1, free_ns / sum(dur_ns) OVER (PARTITION BY rank, device, from_ns)) AS lost_ns FROM met
), operators AS (
    SELECT p.rank, p.name, sum(p.n) / any_value(a.per) AS n, sum(p.lost_ns) / any_value(a.per * c.n_devices) AS lost_ns,
        any_value(a.per) AS per
    FROM part p JOIN account a ON a.rank = p.rank AND a.device = p.device JOIN scope c ON c.rank = p.rank
    GROUP BY p.rank, p.name
), largest AS (
    SELECT rank, max(gap_ns) AS most_ns
    FROM (SELECT rank, sum(lost_ns) AS gap_ns FROM part GROUP BY rank, device, from_ns) GROUP BY rank
)
SELECT o.rank,
    format('The device is idle for {:.3f} ms while the thread that launches computes on the CPU: {}.',
    sum(o.lost_ns) / 1e6, string_agg(o.name, ', ' ORDER BY o.lost_ns DESC, o.name) FILTER (o.place <= 3)) AS problem,
    'Mostly in ' || arg_max(o.name, o.lost_ns) AS place, CAST(sum(o.lost_ns) AS BIGINT) AS saving_ns,
    CASE WHEN any_value(g.most_ns) > 0.75 * sum(o.lost_ns * o.per * c.n_devices)
        THEN format('low: one gap of {:.3f} ms is most of it, and nothing tells that it comes again',
            any_value(g.most_ns) / 1e6)
        ELSE 'high that the device waits for it; whether it can be computed elsewhere is not recorded'
        END AS confidence,
    list(format('{}: {:.1f} calls, {:.3f} ms', o.name, o.n, o.lost_ns / 1e6) ORDER BY o.lost_ns DESC, o.name)[:10]
        AS evidence
FROM (SELECT *, row_number() OVER (PARTITION BY rank ORDER BY lost_ns DESC, name) AS place FROM operators) o
JOIN scope c ON c.rank = o.rank JOIN largest g ON g.rank = o.rank
GROUP BY o.rank
HAVING 100.0 * sum(o.lost_ns) > $computing_step_pct * any_value(c.step_ns)
ORDER BY o.rank
