-- title = "Gradients of layers that nothing trains"
-- doc = """Modules whose parameters ask for gradients while no optimizer has any of them. The bound is the time of
-- their backward passes, less what overlaps earlier work on the device; where allocations are recorded, the memory of
-- their gradients and of what their forward passes hold at the peak is named, at most."""
-- why = """A part of a model that is meant to be frozen and only left out of the optimizer is computed as if it were
-- trained: its activations are kept, and its gradients computed, added up and never used."""
-- cost = "None."
-- unless = """The program itself updates these parameters, or reads their gradients; where layers before them are
-- trained, only the gradients of their own parameters can be left out."""
-- needs = ["untrained"]
-- [fix]
-- pytorch = """requires_grad_(False) on them, and torch.no_grad() around their call where nothing before them is
-- trained; or their parameters in the optimizer"""
-- any = "take no gradients of what is not trained"
-- [params]
-- untrained_step_pct = { type = "DOUBLE", default = 0.5, doc = "found above this share of the step, in percent" }
-- untrained_peak_pct = { type = "DOUBLE", default = 2, doc = "or above this share of the peak of memory, in percent" }
WITH named AS (
    SELECT rank, unnest(untrained) AS module FROM processes
), layer AS (
    SELECT DISTINCT l.rank, l.layer, n.module
    FROM (SELECT DISTINCT rank, layer FROM raw.ops WHERE layer IS NOT NULL) l
    JOIN named n ON n.rank = l.rank AND (l.layer = n.module OR starts_with(l.layer, n.module || '.'))
), backward AS (
    SELECT l.rank, l.module, sum(c.rank_alone_ns / c.per) AS own_ns, any_value(c.step_ns) AS step_ns
    FROM counted c JOIN layer l ON l.rank = c.rank AND l.layer = c.layer
    WHERE c.op_is_backward GROUP BY l.rank, l.module
), forward AS (
    -- Only with gradients have operators numbers of autograd; one of theirs without is within one that has.
    SELECT DISTINCT l.rank, l.layer, l.module
    FROM raw.ops o JOIN layer l ON l.rank = o.rank AND l.layer = o.layer
    WHERE NOT o.is_backward AND o.sequence IS NOT NULL
), held AS (
    SELECT a.rank, f.module, sum(a.size_bytes) AS held_bytes
    FROM alive_at_peak a JOIN forward f ON f.rank = a.rank AND f.layer = a.layer
    WHERE a.how = 'recorded' AND a.kind <> 'gradient' GROUP BY a.rank, f.module
), gradient AS (
    SELECT a.rank, n.module, sum(a.size_bytes) AS gradient_bytes
    FROM alive_at_peak a JOIN named n ON n.rank = a.rank AND starts_with(a.label, n.module || '.')
    WHERE a.kind = 'gradient' GROUP BY a.rank, n.module
), peak AS (
    SELECT rank, max(peak_bytes) AS peak_bytes FROM alive_at_peak GROUP BY rank
), found AS (
    -- One that runs without gradients, as a teacher does, has neither a backward pass nor bytes for it.
    SELECT n.rank, n.module, coalesce(b.own_ns, 0) AS own_ns, b.step_ns, p.peak_bytes,
        coalesce(h.held_bytes, 0) AS held_bytes, coalesce(g.gradient_bytes, 0) AS gradient_bytes,
        coalesce(h.held_bytes, 0) + coalesce(g.gradient_bytes, 0) AS bytes
    FROM named n LEFT JOIN backward b USING (rank, module) LEFT JOIN held h USING (rank, module)
    LEFT JOIN gradient g USING (rank, module) LEFT JOIN peak p USING (rank)
    WHERE coalesce(b.own_ns, h.held_bytes, g.gradient_bytes) IS NOT NULL
)
SELECT rank, concat_ws(' ', format('No optimizer has the parameters of {}, which ask for gradients.',
            arg_max(module, (own_ns, bytes, module))
            || if(count(*) > 1, format(' and {} more modules', count(*) - 1), '')),
        if(sum(own_ns) > 0, format('Their backward pass takes {:.3f} ms a step.', sum(own_ns) / 1e6), NULL),
        format('At the peak their gradients and what they made are {:.3f} MB of {:.3f}.', sum(bytes) / 1e6,
            max(peak_bytes) / 1e6)) AS problem,
    arg_max(module, (own_ns, bytes, module)) AS place, if(sum(own_ns) > 0, sum(own_ns), NULL) AS saving_ns,
    'high that no optimizer has them; an upper bound, since trained layers before them need a part of it' AS confidence,
    list(format('{}: {:.3f} ms backward', module, own_ns / 1e6) || if(peak_bytes IS NULL, '', format(
            '; {:.3f} MB of gradients and {:.3f} MB that they made at the peak', gradient_bytes / 1e6,
            held_bytes / 1e6)) ORDER BY own_ns DESC, bytes DESC, module)[:10] AS evidence
FROM found
GROUP BY rank
HAVING 100.0 * sum(own_ns) > $untrained_step_pct * any_value(step_ns)
    OR 100.0 * sum(bytes) > $untrained_peak_pct * max(peak_bytes)
ORDER BY rank
