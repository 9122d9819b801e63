-- doc = """Per rank, what a number per step means: the steps that count (not warm-up), their number and their time.
-- Without steps the whole recording counts as one; where other ranks have steps, nothing of a rank without counts.
-- Ranks with a time are counted."""
-- materialize = true
-- in_job = "CAST({n_ranks} AS BIGINT) AS n_ranks"
-- [columns]
-- n_steps = "steps that count"
-- n_warmup = "leading steps left out"
-- total_ns = "time of the steps that count, without what lies between them"
-- step_ns = "mean time of these"
-- has_steps = "whether steps count, of this rank or of others"
-- n_devices = "devices of the rank on which something ran"
-- is_unstamped = """whether a log without time stamps has the work of its processor: laid end to end, primitives do not
-- tell when it was idle; beside a trace only without steps"""
-- first_ns = "start of the first of these steps"
-- last_ns = "end of the last one: what lies between the two and in no step is between steps"
WITH found AS (
    SELECT r.rank, coalesce(s.n_steps, 0) AS n_steps, coalesce(s.n_warmup, 0) AS n_warmup,
        bool_or(s.n_steps > 0) OVER () IS TRUE AS has_steps, s.total_ns AS steps_ns, s.first_ns, s.last_ns,
        w.start_ns, w.end_ns, if(has_steps, 0, coalesce(w.end_ns - w.start_ns, 0)) AS recorded_ns, w.n_devices
    FROM raw.ranks r
    LEFT JOIN (
        SELECT rank, count(*) FILTER (NOT is_warmup) AS n_steps, count(*) FILTER (is_warmup) AS n_warmup,
            CAST(sum(dur_ns) FILTER (NOT is_warmup) AS BIGINT) AS total_ns,
            min(start_ns) FILTER (NOT is_warmup) AS first_ns, max(end_ns) FILTER (NOT is_warmup) AS last_ns
        FROM step_times GROUP BY rank
    ) s USING (rank)
    LEFT JOIN (
        SELECT rank, min(start_ns) AS start_ns, max(end_ns) AS end_ns, count(DISTINCT device) AS n_devices
        FROM performed GROUP BY rank
    ) w USING (rank)
)
SELECT rank, n_steps, n_warmup, coalesce(steps_ns, recorded_ns) AS total_ns,
    if(n_steps > 0, steps_ns // n_steps, recorded_ns) AS step_ns, has_steps,
    count(nullif(coalesce(steps_ns, recorded_ns) > 0, false)) OVER () AS n_ranks, coalesce(n_devices, 0) AS n_devices,
    rank IN (SELECT rank FROM raw.captures WHERE starts_with(clock, 'no time stamps'))
        AND NOT (has_steps AND rank IN (SELECT rank FROM recorded WHERE ops > 0))
        AND rank NOT IN (SELECT rank FROM recorded WHERE kernels > 0) AS is_unstamped,
    coalesce(first_ns, if(has_steps, end_ns, start_ns)) AS first_ns, coalesce(last_ns, end_ns) AS last_ns
FROM found
