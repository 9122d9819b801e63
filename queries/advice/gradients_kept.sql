-- title = "Gradients that are kept between steps"
-- doc = """Gradients that stay allocated from an optimizer's step into the next forward pass or beyond, where memory is
-- at its peak. The bound is in memory: what of them is alive at the peak. There is none in time."""
-- why = """A gradient that is set to zero in place of being released, or released after the forward pass, takes memory
-- while the forward pass fills it with activations: memory for nothing, and to write zeros takes a pass over it."""
-- cost = "None: the backward pass writes a gradient where there is none."
-- unless = """They are added up over several steps of the optimizer on purpose, or a captured graph needs them in
-- the same place."""
-- needs = ["allocations"]
-- [fix]
-- pytorch = """optimizer.zero_grad() or model.zero_grad() without set_to_none=False (True is the default since PyTorch
-- 2.0), before the forward pass"""
-- any = "release gradients once the optimizer has used them"
-- [params]
-- kept_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the peak, in percent" }
WITH pass AS (
    SELECT rank, step, min(start_ns) FILTER (layer IS NOT NULL AND NOT is_backward
            AND coalesce(phase, '') NOT IN ('data', 'optimizer')) AS forward_ns,
        min(start_ns) FILTER (is_backward) AS backward_ns, max(start_ns) FILTER (phase = 'optimizer') AS optimizer_ns
    FROM raw.ops WHERE step IS NOT NULL GROUP BY rank, step
), judged AS (
    -- Steps of a program that trained before them.
    SELECT *, count(*) OVER (PARTITION BY rank) AS n_steps
    FROM (SELECT *, max(optimizer_ns) OVER (PARTITION BY rank ORDER BY backward_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns FROM pass WHERE backward_ns IS NOT NULL)
    WHERE forward_ns < backward_ns AND before_ns < forward_ns
), gradient AS (
    -- One that is larger than its parameter is a bucket, in which DistributedDataParallel keeps those of many.
    SELECT a.* FROM allocations a
    LEFT JOIN processes p ON p.rank = a.rank
    LEFT JOIN (SELECT rank, label, max(size_bytes) AS size_bytes FROM allocations WHERE kind = 'parameter'
        GROUP BY rank, label) w ON w.rank = a.rank AND w.label = a.label
    WHERE a.kind = 'gradient' AND a.how IN ('recorded', 'noted') AND coalesce(a.size_bytes < w.size_bytes + 512, true)
        -- Those that no optimizer knows are another rule's.
        AND NOT coalesce(list_bool_or(list_transform(p.untrained, lambda name: starts_with(a.label, name || '.'))),
            false)
), kept AS (
    -- It is sure where it is in the same place all the time, or released before the backward pass makes it anew.
    SELECT g.id, g.rank, g.device, j.step, j.n_steps,
        coalesce(bool_or(g.freed_ns <= j.backward_ns) OVER one, false) AS is_released,
        is_released OR count(*) OVER one = j.n_steps AS is_sure
    FROM gradient g
    JOIN judged j ON j.rank = g.rank AND coalesce(g.allocated_ns < j.before_ns, true)
        AND coalesce(g.freed_ns > j.forward_ns, true)
    WINDOW one AS (PARTITION BY g.id)
), total AS (
    SELECT a.rank, a.device, any_value(a.peak_bytes) AS peak_bytes, any_value(a.peak_step) AS peak_step,
        any_value(a.peak_phase) AS peak_phase, sum(a.size_bytes) AS kept_bytes, bool_or(k.is_released) AS is_released,
        bool_and(k.is_sure) AS is_sure, bool_and(a.how = 'noted') AS is_noted,
        list(format('{}: {:.3f} MB', coalesce(a.label, 'gradient of ' || a.layer, a.op_name), a.size_bytes / 1e6)
            ORDER BY a.size_bytes DESC, a.label, a.layer, a.id)[:10] AS evidence
    FROM alive_at_peak a JOIN (SELECT DISTINCT id, is_released, is_sure FROM kept) k ON k.id = a.id
    -- Of the step of the peak they are what it computes.
    WHERE coalesce(a.step < a.peak_step, true)
    GROUP BY a.rank, a.device
)
SELECT t.rank, format('{:.3f} MB of gradients stay allocated from one step until the next backward pass, {:.1f} % of '
        || 'the peak of {}: without them it is lower by that at most.', t.kept_bytes / 1e6,
        100.0 * t.kept_bytes / t.peak_bytes, coalesce('device ' || CAST(t.device AS VARCHAR), 'the host')) AS problem,
    coalesce('The peak is in the ' || t.peak_phase || ' pass', 'At the peak')
        || coalesce(' of step ' || t.peak_step, '') AS place,
    CAST(NULL AS DOUBLE) AS saving_ns,
    if(t.is_noted, 'high: they were in the same place when recording began and when it ended',
        'medium: that they are gradients is a guess from when they were allocated') AS confidence,
    list_concat([CASE WHEN t.is_released THEN 'they are released, but only after the forward pass has begun'
        WHEN EXISTS (FROM raw.ranges r WHERE r.rank = t.rank AND r.name LIKE 'Optimizer.zero_grad#%')
        THEN 'Optimizer.zero_grad is called, and keeps them'
        ELSE 'no call of Optimizer.zero_grad was recorded: without any they are added up' END], t.evidence) AS evidence
FROM total t
-- What the optimizer reads at the peak is needed there.
WHERE t.is_sure AND 100.0 * t.kept_bytes > $kept_pct * t.peak_bytes AND coalesce(t.peak_phase, '') <> 'optimizer'
    AND EXISTS (SELECT 1 FROM kept k WHERE k.rank = t.rank AND k.device IS NOT DISTINCT FROM t.device AND k.n_steps >= 2
        HAVING count(DISTINCT k.step) = any_value(k.n_steps))
QUALIFY row_number() OVER (PARTITION BY t.rank ORDER BY t.kept_bytes DESC, t.device NULLS FIRST) = 1
ORDER BY t.rank
