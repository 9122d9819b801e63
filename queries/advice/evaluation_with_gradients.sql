-- title = "Evaluation that keeps what gradients need"
-- doc = """Forward passes in evaluation mode with gradients and without a backward pass, as `traceview collect` counts
-- them; in other traces steps without any backward pass, in which layers run with gradients and what at least three of
-- them made stays until the last one has begun. The bound is in memory; there is none in time."""
-- why = """With gradients every operator keeps its inputs for a backward pass that never comes, until the result of the
-- whole pass is dropped; without them each is released when the next layer has read it."""
-- cost = "None."
-- unless = "What layers made is kept on purpose, as features or as a cache."
-- needs = ["evaluation"]
-- [fix]
-- pytorch = """with torch.inference_mode(): or torch.no_grad() around validation and inference; model.eval() is not
-- enough"""
-- tensorflow = "no GradientTape around validation"
-- any = "evaluate without gradients"
-- [params]
-- held_pct = { type = "DOUBLE", default = 5, doc = "in other traces found above this share of the peak, in percent" }
WITH noted AS (
    SELECT rank, n_evaluated, n_unused, n_maybe_used FROM processes WHERE n_evaluated > 0
), held AS (
    -- Only with gradients have operators numbers of autograd.
    SELECT a.rank, a.device, a.step, count(DISTINCT a.layer) AS layers, sum(a.size_bytes) AS held_bytes,
        list(DISTINCT format('{}: {:.3f} MB', a.layer, a.size_bytes / 1e6))[:10] AS evidence
    FROM allocations a JOIN raw.ops o ON o.id = a.op_id
    WHERE a.kind = 'activation' AND o.sequence IS NOT NULL AND NOT EXISTS (FROM raw.ops b WHERE b.is_backward)
    GROUP BY a.rank, a.device, a.step
), most AS (
    SELECT h.*, p.peak_bytes FROM held h
    JOIN memory_peaks p ON p.rank = h.rank AND p.device IS NOT DISTINCT FROM h.device
    WHERE h.layers >= 3
    QUALIFY row_number() OVER (PARTITION BY h.rank ORDER BY h.held_bytes DESC, h.step) = 1
), seen AS (
    SELECT r.rank, concat_ws(' ', if(n.n_unused > 0, format('{}{} of {} forward passes in evaluation mode run with '
                || 'gradients, and no backward pass uses them.', if(n.n_maybe_used > 0, 'At least ', ''), n.n_unused,
                n.n_evaluated),
                'No step has a backward pass.'),
            format('Step {} holds {:.3f} MB of what {} layers made until the last of them has begun, {:.1f} % of the '
                || 'peak.', m.step, m.held_bytes / 1e6, m.layers, 100.0 * m.held_bytes / m.peak_bytes)) AS problem,
        coalesce('Step ' || m.step, 'Inside of steps') AS place, CAST(NULL AS DOUBLE) AS saving_ns,
        if(n.n_unused > 0, 'high: the collector saw it; how much memory it takes depends on what the passes keep',
            'medium: what is kept may be wanted, and gradients be on for nothing but that') AS confidence,
        coalesce(list_sort(m.evidence), []) AS evidence
    FROM raw.ranks r LEFT JOIN noted n USING (rank) LEFT JOIN most m USING (rank)
    WHERE n.n_unused > 0 OR (n.rank IS NULL AND 100.0 * m.held_bytes > $held_pct * m.peak_bytes)
)
FROM seen UNION ALL
SELECT rank, NULL, 'evaluation', NULL,
    format('{} of {} forward passes in evaluation mode run with gradients, and whether the backward pass after them is '
        || 'of their model is not known', n_maybe_used, n_evaluated), NULL
FROM noted WHERE n_maybe_used > 0 AND NOT EXISTS (FROM seen)
ORDER BY 1
