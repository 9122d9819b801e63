-- title = "An optimizer of many small operators on a CPU"
-- doc = """Time of the optimizer's step on a CPU in which at least two kinds of elementwise operators run over the
-- parameters and no fused kernel does. The bound is the time between these operators, plus the part of their own time
-- that goes away if each tensor is read and written only once: what the operators read and write is held against the
-- seven reads and writes of Adam's update, or the five of SGD's with momentum. Where the closure of
-- `optimizer.step(closure)` runs a backward pass, only what follows the last one counts. An optimizer whose mark names
-- a class without a fused form (LBFGS) is left out."""
-- why = """Each operator reads and writes whole tensors, and Python runs between them for every parameter; a fused
-- kernel goes over parameters, gradients and state once."""
-- cost = "None; results differ in the last bits."
-- unless = "The optimizer has no fused form; SGD, Adam, AdamW and Adagrad have one."
-- needs = ["steps", "optimizer_phase", "cpu_only"]
-- [fix]
-- pytorch = "{place}(..., fused=True); SGD, Adam, AdamW and Adagrad have it (PyTorch 2.4 and later on a CPU)"
-- any = "an optimizer whose update is one kernel"
-- [params]
-- optimizer_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH pass(name, tensors) AS (
    VALUES ('aten::add_', 3), ('aten::add', 3), ('aten::sub_', 3), ('aten::mul_', 2), ('aten::mul', 2),
        ('aten::div_', 2), ('aten::div', 2), ('aten::sqrt_', 2), ('aten::sqrt', 2), ('aten::lerp_', 3),
        ('aten::addcmul_', 3), ('aten::addcdiv_', 4)
), marked AS (
    SELECT id, parent_id, rank, step, start_ns, dur_ns, depth,
        nullif(regexp_extract(domain, '^Optimizer\.step#(\w+)\.step', 1), '') AS optimizer
    FROM raw.ranges
    WHERE kind = 'phase' AND name = 'optimizer' AND rank NOT IN (SELECT rank FROM raw.kernels)
), named AS (
    -- The collector's mark lies around PyTorch's, which has the class.
    SELECT m.* REPLACE (coalesce(m.optimizer, i.optimizer) AS optimizer)
    FROM (FROM marked WHERE depth = 0) m
    LEFT JOIN (SELECT rank, parent_id, min(optimizer) AS optimizer FROM marked GROUP BY rank, parent_id) i
        ON i.rank = m.rank AND i.parent_id = m.id
), range AS (
    SELECT r.id, r.rank, r.step, r.start_ns, r.start_ns + r.dur_ns AS end_ns, any_value(r.optimizer) AS optimizer,
        greatest(r.start_ns, coalesce(max(o.start_ns + o.dur_ns), r.start_ns)) AS from_ns
    FROM named r LEFT JOIN raw.ops o ON o.rank = r.rank AND o.is_backward AND o.start_ns >= r.start_ns
        AND o.start_ns + o.dur_ns <= r.start_ns + r.dur_ns
    WHERE r.optimizer IS NULL OR r.optimizer IN ('SGD', 'Adam', 'AdamW', 'Adagrad')
    GROUP BY r.id, r.rank, r.step, r.start_ns, r.dur_ns
), part AS (
    SELECT c.rank, c.name, count(*) AS n, sum(c.mean_ns / c.per) AS own_ns, any_value(c.per) AS per
    FROM (FROM counted WHERE op_phase = 'optimizer') c
    ASOF JOIN range r ON r.rank = c.rank AND c.start_ns >= r.start_ns
    WHERE c.start_ns >= r.from_ns AND c.start_ns < r.end_ns
    GROUP BY c.rank, c.name
), least_calls AS (
    SELECT rank, min(n) AS n, count(*) AS kinds FROM part JOIN pass USING (name) GROUP BY rank
), read AS (
    -- A kind of operator that runs twice per parameter reads and writes twice.
    SELECT p.rank, sum(s.tensors * p.n / l.n) AS tensors, any_value(l.kinds) AS kinds,
        if(bool_or(p.name = 'aten::addcdiv_'), 7, 5) AS fused
    FROM part p JOIN pass s USING (name) JOIN least_calls l ON l.rank = p.rank GROUP BY p.rank
), work AS (
    SELECT rank, sum(own_ns) AS own_ns, bool_or(contains(name, '_fused_')) AS is_fused,
        list(format('{}: {:.1f} calls, {:.3f} ms', name, n / per, own_ns / 1e6) ORDER BY own_ns DESC, name)[:8]
            AS evidence
    FROM part GROUP BY rank
), phase AS (
    SELECT r.rank, sum(r.end_ns - r.from_ns) / any_value(c.n_steps) AS dur_ns, any_value(c.step_ns) AS step_ns,
        any_value(r.optimizer) AS optimizer
    FROM range r JOIN scope c USING (rank)
    WHERE (r.rank, r.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
    GROUP BY r.rank
), lost AS (
    SELECT w.*, p.dur_ns, p.step_ns, p.optimizer, greatest(p.dur_ns - w.own_ns, 0)
        + w.own_ns * greatest(1 - r.fused / r.tensors, 0) AS lost_ns
    FROM work w JOIN phase p USING (rank) JOIN read r USING (rank)
    WHERE NOT w.is_fused AND r.kinds >= 2
)
SELECT rank, format('The optimizer takes {:.3f} ms, of which its operators compute {:.3f} ms, one after the other.',
        dur_ns / 1e6, own_ns / 1e6) AS problem,
    coalesce('torch.optim.' || optimizer, 'the optimizer') AS place, lost_ns AS saving_ns,
    'medium: the optimizer''s time is marked; how fast one pass over its tensors is depends on the memory'
        AS confidence,
    evidence
FROM lost
WHERE 100.0 * lost_ns > $optimizer_step_pct * step_ns
ORDER BY rank
