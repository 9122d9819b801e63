-- title = "What each model would give"
-- doc = """Speed-up with computing as measured with the fewest ranks (in strong scaling in proportion to the batch of a
-- rank) and communication as the fitted model gives it: none of it hidden, or as much hidden as computing lasts. Where
-- the fewest are several, their step less the exposed share of its recording is computing. Measured values stand
-- beside."""
-- cannot = "No fitted model and speed-ups in this capture."
-- leave_out = ["gradient_bytes"]
-- [headings]
-- measured = "measured"
-- shown = "model, nothing hidden"
-- hidden = "model, all hidden"
-- [columns]
-- scaling = "weak or strong"
-- batch = "of a rank (weak), of all ranks (strong)"
-- ranks = "processes"
-- model = "parameter server, tree or ring"
-- gradient_bytes = "in a step, as recorded"
-- compute_ns = "of a rank in a step, from the fewest ranks"
-- exchange_ns = "by the model"
-- shown = "times as fast, if computing and communication follow each other"
-- hidden = "times as fast, if communication runs beside computing"
-- measured = "times as fast"
-- verdict = "of the measurement"
WITH base AS (
    SELECT p.mode, if(p.mode = 'strong', p.global_batch, p.batch) AS size, p.ranks, p.step_ns,
        p.step_ns * if(p.ranks = 1, 1.0, 1.0 - e.exposed_ns / nullif(e.step_ns, 0)) AS compute_ns
    FROM raw.scaling_points p LEFT JOIN raw.scaling_exchanges e ON e.mode = p.mode AND e.ranks = p.ranks
        AND e.batch IS NOT DISTINCT FROM p.batch
    WHERE p.status <> 'published' AND p.verdict = 'base'
), asked AS (
    SELECT p.mode, if(p.mode = 'strong', p.global_batch, p.batch) AS size, p.ranks, p.speedup, p.verdict,
        e.gradient_bytes, e.calls, b.compute_ns * if(p.mode = 'strong', b.ranks / p.ranks, 1.0) AS compute_ns,
        b.step_ns * if(p.mode = 'strong', 1.0, p.ranks / b.ranks) AS base_ns
    FROM raw.scaling_points p
    JOIN base b ON b.mode = p.mode AND b.ranks = p.base_ranks
        AND b.size IS NOT DISTINCT FROM if(p.mode = 'strong', p.global_batch, p.batch)
    JOIN raw.scaling_exchanges e ON e.mode = p.mode AND e.ranks = p.ranks AND e.batch IS NOT DISTINCT FROM p.batch
    WHERE p.status <> 'published' AND p.ranks > p.base_ranks AND p.speedup > 0 AND e.gradient_bytes > 0
        AND b.compute_ns > 0
), moved AS (
    SELECT a.*, m.model, CASE m.model WHEN 'tree' THEN 2 * ceil(log2(a.ranks)) ELSE 2 * (a.ranks - 1) END AS messages,
        CASE m.model WHEN 'ring' THEN 1.0 / a.ranks ELSE 1.0 END AS part, m.latency_ns, m.bytes_per_s
    FROM asked a CROSS JOIN raw.scaling_models m WHERE m.scope = 'all ranks'
), timed AS (
    SELECT *, messages * (coalesce(latency_ns, 0) * greatest(calls, 1)
        + coalesce(1e9 * part * gradient_bytes / bytes_per_s, 0)) AS exchange_ns
    FROM moved
)
SELECT mode AS scaling, size AS batch, ranks, model, gradient_bytes, CAST(compute_ns AS BIGINT) AS compute_ns,
    CAST(exchange_ns AS BIGINT) AS exchange_ns,
    round(base_ns / (compute_ns + exchange_ns), 2) AS shown,
    round(base_ns / greatest(compute_ns, exchange_ns), 2) AS hidden, round(speedup, 2) AS measured, verdict
FROM timed
ORDER BY scaling, batch, ranks, model
