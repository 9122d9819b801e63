-- title = "What if"
-- doc = """Bounds of what a change would save of the peak, or of how far the batch could grow. Each assumes what its
-- row says; where the peak then moves to another moment, less is saved."""
-- cannot = """No allocations of a framework were recorded, or nothing alive at the peak is of a kind that a change
-- would save."""
-- leave_out = ["cost_ns"]
-- [headings]
-- saved_pct = "of the peak"
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- change = "what would be done"
-- batch_factor = "factor by which the batch could grow, at most"
-- saved_bytes = "bytes of the peak that it saves, at most"
-- saved_pct = "of the device's peak"
-- cost_ns = "time that it adds to a step: kernels and operators of these layers' forward passes, which run again"
-- assumes = "what the bound assumes"
WITH kind AS (
    SELECT rank, device, any_value(peak_bytes) AS peak_bytes, any_value(peak_phase) AS peak_phase,
        sum(size_bytes) FILTER (kind = 'optimizer_state') AS state_bytes,
        sum(size_bytes) FILTER (kind = 'gradient' AND (step IS NULL OR step < peak_step)) AS gradient_bytes
    FROM alive_at_peak GROUP BY rank, device
), narrow AS (
    -- State of each element of a parameter has as many elements; what is smaller is of none.
    SELECT a.rank, a.device, bool_or(p.elements IS NULL) AS is_assumed,
        sum(if(p.elements IS NULL, 0.75 * a.size_bytes, greatest(a.size_bytes - p.elements, 0))) AS saved_bytes
    FROM alive_at_peak a
    LEFT JOIN (SELECT a.rank, a.label, max(a.size_bytes / w.parameter_bytes) AS elements FROM allocations a
        JOIN processes w ON w.rank = a.rank WHERE a.kind = 'parameter' GROUP BY a.rank, a.label) p
        ON p.rank = a.rank AND p.label = regexp_extract(a.label, '^(.+)\.', 1)
    WHERE a.kind = 'optimizer_state' GROUP BY a.rank, a.device
), activation AS (
    SELECT a.rank, a.device, a.layer, any_value(a.peak_bytes) AS peak_bytes, sum(a.size_bytes) AS size_bytes,
        sum(a.size_bytes) FILTER (contains(o.types, '"float"') AND NOT regexp_matches(o.types, 'Half|BFloat'))
            AS wide_bytes
    FROM alive_at_peak a LEFT JOIN raw.ops o ON o.id = a.op_id
    -- Of a step without a backward pass nothing has to be kept at all.
    WHERE a.kind = 'activation' AND EXISTS (FROM raw.ops b
        WHERE b.rank = a.rank AND b.is_backward AND b.step IS NOT DISTINCT FROM coalesce(a.step, b.step))
    GROUP BY a.rank, a.device, a.layer
), within AS (
    -- Layers that lie in each module.
    SELECT m.rank, m.path AS layer, unnest(m.ancestors) AS module FROM modules m
), gradient AS (
    SELECT rank, pid, tid, start_ns, max(start_ns + dur_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns)
        AS until_ns
    FROM raw.ops WHERE is_backward AND EXISTS (FROM activation)
), checkpointed AS (
    -- Modules whose forward runs within a backward pass.
    SELECT DISTINCT r.rank, regexp_replace(r.name, ' \(\w+\)$', '') AS path
    FROM raw.ranges r ASOF JOIN gradient g ON g.rank = r.rank AND g.pid IS NOT DISTINCT FROM r.pid
        AND g.tid IS NOT DISTINCT FROM r.tid AND r.start_ns >= g.start_ns
    WHERE r.kind = 'module' AND r.start_ns < g.until_ns
), module AS (
    SELECT a.rank, a.device, m.path, m.class, m.depth, any_value(a.peak_bytes) AS peak_bytes,
        sum(a.size_bytes) AS size_bytes,
        -- Whether it would be computed again at the peak.
        EXISTS (FROM memory_peaks p JOIN within i ON i.rank = p.rank AND i.layer = p.layer WHERE p.phase = 'backward'
            AND p.rank = a.rank AND p.device IS NOT DISTINCT FROM a.device AND i.module = m.path) AS is_again
    FROM activation a
    JOIN within w ON w.rank = a.rank AND w.layer = a.layer
    JOIN modules m ON m.rank = w.rank AND m.path = w.module AND m.depth > 0 AND m.class IS NOT NULL
    WHERE (m.rank, m.path) NOT IN (FROM checkpointed)
    GROUP BY ALL
), class AS (
    SELECT rank, device, class, depth, any_value(peak_bytes) AS peak_bytes, count(*) AS n, list(path) AS paths,
        bool_or(is_again) AS is_again, sum(size_bytes) - if(bool_or(is_again), max(size_bytes), 0) AS saved_bytes
    FROM module GROUP BY rank, device, class, depth HAVING count(*) > 1
    QUALIFY row_number() OVER (PARTITION BY rank, device ORDER BY saved_bytes DESC, class, depth) <= 3
), forward AS (
    SELECT a.rank, a.layer, sum(a.dur_ns) / greatest(1, count(DISTINCT a.step)) AS busy_ns
    FROM activities a LEFT JOIN raw.ops o ON o.id = a.op_id
    WHERE a.layer IS NOT NULL AND NOT coalesce(o.is_backward, false) AND EXISTS (FROM class)
    GROUP BY a.rank, a.layer
), repeated AS (
    SELECT c.rank, c.device, c.class, c.depth, sum(f.busy_ns) AS cost_ns
    FROM class c JOIN within w ON w.rank = c.rank AND list_contains(c.paths, w.module)
    JOIN forward f ON f.rank = w.rank AND f.layer = w.layer
    GROUP BY ALL
), room AS (
    SELECT rank, device, memory_bytes FROM raw.devices WHERE kind <> 'cpu'
    UNION ALL
    SELECT rank, NULL, machine_bytes FROM processes
), sharing AS (
    -- Ranks that get a part of the gradients, or hand out parameters that they updated, share the optimizer's state.
    SELECT DISTINCT rank FROM raw.ops WHERE contains(name, 'reduce_scatter')
        OR (phase = 'optimizer' AND regexp_matches(name, '^_?c10d.*(broadcast|all_?gather)'))
), moment AS (
    -- With a larger batch the peak may be at another moment: in the backward pass instead of the optimizer.
    SELECT e.rank, e.device, e.sum_bytes, sum(if(e.grows, e.bytes, 0)) OVER timed AS growing_bytes,
        sum(if(e.grows IS NULL, e.bytes, 0)) OVER timed AS unknown_bytes
    FROM (
        SELECT e.*, CASE
            -- The temporary buffer of a program of XLA holds gradients too, its results new parameters.
            WHEN a.program IS NOT NULL OR (a.kind = 'unknown' AND a.allocated_ns IS NOT NULL) THEN NULL
            WHEN a.kind NOT IN ('activation', 'input', 'temporary', 'workspace') OR a.phase = 'optimizer' THEN false
            -- Gradients that are copied elsewhere, parameters that are gathered or copied to another type do not grow.
            WHEN a.kind = 'temporary' AND a.phase = 'backward' OR a.kind <> 'input' AND a.op_name = 'aten::_to_copy'
                OR a.kind IN ('temporary', 'workspace') AND e.rank IN (FROM sharing) THEN NULL
            ELSE true END AS grows
        FROM memory_events e JOIN allocations a ON a.id = e.id
    ) e
    WINDOW timed AS (PARTITION BY e.rank, e.device ORDER BY e.place)
), largest AS (
    SELECT m.rank, m.device, any_value(r.memory_bytes) AS memory_bytes,
        arg_min({factor: (r.memory_bytes - (m.sum_bytes - m.growing_bytes)) / m.growing_bytes,
            fixed_bytes: m.sum_bytes - m.growing_bytes, is_known: m.growing_bytes > m.unknown_bytes},
            (r.memory_bytes - (m.sum_bytes - m.growing_bytes)) / m.growing_bytes) AS it
    FROM moment m JOIN room r ON r.rank = m.rank AND r.device IS NOT DISTINCT FROM m.device
    WHERE m.growing_bytes > 0 GROUP BY m.rank, m.device
), change AS (
    SELECT k.rank, k.device, 1 AS place, 'a larger batch' AS change, m.it.factor AS batch_factor,
        CAST(NULL AS DOUBLE) AS saved_bytes, k.peak_bytes, CAST(NULL AS DOUBLE) AS cost_ns,
        format('activations, input and what forward passes need for a moment grow with it, {:.2f} GB do not; '
                || 'all {:.2f} GB can be used',
            m.it.fixed_bytes / 1e9, m.memory_bytes / 1e9) AS assumes
    FROM kind k JOIN largest m ON m.rank = k.rank AND m.device IS NOT DISTINCT FROM k.device
    -- Where more than that was allocated for purposes that are not known, they may grow too.
    WHERE m.it.is_known AND m.memory_bytes > k.peak_bytes
    UNION ALL
    SELECT c.rank, c.device, 2, format('checkpointing of each {} ({} of them)', c.class, c.n), NULL, c.saved_bytes,
        c.peak_bytes, r.cost_ns,
        if(c.is_again, 'the peak is in the backward pass, which holds one of them at a time',
            'the peak is not known to be in the backward pass of one of them, so that none is held')
            || '; their inputs stay, which is not taken off'
    FROM class c LEFT JOIN repeated r USING (rank, class, depth)
    WHERE r.device IS NOT DISTINCT FROM c.device AND c.saved_bytes > 0
    UNION ALL
    SELECT rank, device, 3, 'activations in half precision', NULL, sum(wide_bytes) / 2, any_value(peak_bytes), NULL,
        'what operators on float32 keep is halved; copies of the parameters in half precision are not counted'
    FROM activation GROUP BY rank, device HAVING sum(wide_bytes) > 0
    UNION ALL
    SELECT k.rank, k.device, 4, 'optimizer state in 8 bits', NULL, n.saved_bytes, k.peak_bytes, NULL,
        if(n.is_assumed, 'the state is in float32 now; ', '') || 'scales of blocks are not counted'
    FROM kind k JOIN narrow n ON n.rank = k.rank AND n.device IS NOT DISTINCT FROM k.device WHERE n.saved_bytes > 0
    UNION ALL
    SELECT k.rank, k.device, 5, format('optimizer state sharded over {} ranks', r.world_size), NULL,
        k.state_bytes * (1 - 1.0 / r.world_size), k.peak_bytes, NULL,
        'every rank holds all of it now; what gathers parameters is not counted'
    FROM kind k JOIN raw.ranks r ON r.rank = k.rank WHERE k.state_bytes > 0 AND r.world_size > 1
        AND k.rank NOT IN (FROM sharing)
    UNION ALL
    SELECT rank, device, 6, 'gradients released before the forward pass', NULL, gradient_bytes, peak_bytes, NULL,
        'zero_grad(set_to_none=True) before the forward pass, and no accumulation over steps'
    FROM kind WHERE gradient_bytes > 0 AND coalesce(peak_phase, 'forward') <> 'optimizer'
    UNION ALL
    SELECT a.rank, a.device, 7, 'channels_last', NULL, sum(a.size_bytes), any_value(a.peak_bytes), NULL,
        if(a.device IS NULL, 'what convolutions hold beside their results, and ', '') || 'what changes of layout '
            || 'made, are copies in another layout, and no operator needs the layout of today'
    FROM alive_at_peak a JOIN ops o ON o.id = a.op_id
    WHERE (o.category = 'conv' AND a.device IS NULL AND a.kind = 'workspace'
            AND coalesce(o.algorithm, 'direct') NOT IN ('explicit_gemm', 'fft', 'fft_tiling'))
        OR (o.category = 'layout_transpose' AND regexp_matches(o.name, 'contiguous|to_dense|mkldnn') AND a.is_guessed
            AND EXISTS (FROM ops c WHERE c.rank = a.rank AND c.category = 'conv'))
    GROUP BY a.rank, a.device
)
SELECT rank, device, change, batch_factor, CAST(saved_bytes AS BIGINT) AS saved_bytes,
    100.0 * saved_bytes / peak_bytes AS saved_pct, CAST(cost_ns AS BIGINT) AS cost_ns, assumes
FROM change
ORDER BY rank, device, place, saved_bytes DESC, change
