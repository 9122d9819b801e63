-- doc = """Per rank, what a number per step means: the steps that count (not warm-up), their number and their time.
-- Without steps the whole recording counts as one; ranks with a time are counted."""
-- materialize = true
-- in_job = "CAST({n_ranks} AS BIGINT) AS n_ranks"
-- [columns]
-- n_steps = "steps that count"
-- n_warmup = "leading steps left out"
-- total_ns = "time of the steps that count, without what lies between them"
-- step_ns = "mean time of these"
-- n_devices = "devices of the rank on which something ran"
-- first_ns = "start of the first of these steps"
-- last_ns = "end of the last one: what lies between the two and in no step is between steps"
SELECT
    r.rank,
    coalesce(s.n_steps, 0) AS n_steps,
    coalesce(s.n_warmup, 0) AS n_warmup,
    coalesce(s.total_ns, w.end_ns - w.start_ns, 0) AS total_ns,
    CASE WHEN s.n_steps > 0 THEN s.total_ns // s.n_steps ELSE coalesce(w.end_ns - w.start_ns, 0) END AS step_ns,
    coalesce(s.n_steps, 0) > 0 AS has_steps,
    count(*) FILTER (coalesce(s.total_ns, w.end_ns - w.start_ns, 0) > 0) OVER () AS n_ranks,
    coalesce(w.n_devices, 0) AS n_devices,
    coalesce(s.first_ns, w.start_ns) AS first_ns, coalesce(s.last_ns, w.end_ns) AS last_ns
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
