-- title = "An optimizer of many small operators"
-- doc = """Time of the optimizer's step on a CPU in which at least two kinds of elementwise operators run over the
-- parameters and no fused kernel does. The bound is the time between these operators, plus the part of their own time
-- that goes away if each tensor is read and written only once: what the operators read and write is held against the
-- seven reads and writes of Adam's update, or the five of SGD's with momentum. Where the closure of
-- `optimizer.step(closure)` runs a backward pass, only what follows the last one counts. An optimizer whose mark names
-- a class without a fused form (LBFGS) is left out; of a class that is not PyTorch's it is not known. On a device it is
-- an optimizer that launches a kernel of each kind for every parameter, in none of whose steps a kernel goes over a
-- list of tensors (foreach, fused): the bound is the time in which the device has nothing to do between these kernels,
-- plus the same part of theirs."""
-- why = """Each operator reads and writes whole tensors, and Python runs between them for every parameter; a fused
-- kernel goes over parameters, gradients and state once."""
-- cost = "None; results differ in the last bits."
-- unless = "The optimizer has no fused form; SGD, Adam, AdamW and Adagrad have one."
-- needs = ["steps", "optimizer_phase"]
-- [fix]
-- pytorch = """{place}(..., fused=True): SGD, Adam and AdamW have it, and Adagrad in recent versions; foreach=True for
-- others (PyTorch 2 takes it by itself, unless a parameter is a subclass of torch.Tensor)"""
-- pytorch_cpu = "{place}(..., fused=True); SGD, Adam, AdamW and Adagrad have it (PyTorch 2.4 and later on a CPU)"
-- any = "an optimizer whose update is one kernel"
-- [params]
-- optimizer_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
-- optimizer_device_pct = { type = "DOUBLE", default = 1, doc = "the same on a device" }
-- optimizer_kernels = { type = "BIGINT", default = 16, doc = "kernels of one kind that make it a loop over tensors" }
WITH pass(name, tensors) AS (
    VALUES ('aten::add_', 3), ('aten::add', 3), ('aten::sub_', 3), ('aten::mul_', 2), ('aten::mul', 2),
        ('aten::div_', 2), ('aten::div', 2), ('aten::sqrt_', 2), ('aten::sqrt', 2), ('aten::lerp_', 3),
        ('aten::addcmul_', 3), ('aten::addcdiv_', 4)
), marked AS (
    SELECT id, parent_id, rank, step, start_ns, dur_ns, depth,
        nullif(regexp_extract(domain, '^Optimizer\.step#(\w+)\.step', 1), '') AS optimizer,
        rank IN (SELECT rank FROM raw.kernels) AS has_device
    FROM raw.ranges WHERE kind = 'phase' AND name = 'optimizer'
), named AS (
    -- The collector's mark lies around PyTorch's, which has the class.
    SELECT m.* REPLACE (coalesce(m.optimizer, i.optimizer) AS optimizer)
    FROM (FROM marked WHERE depth = 0) m
    LEFT JOIN (SELECT rank, parent_id, min(optimizer) AS optimizer FROM marked GROUP BY rank, parent_id) i
        ON i.rank = m.rank AND i.parent_id = m.id
), judged AS (
    -- Only what PyTorch's own classes have is known.
    SELECT *, has_form IS NOT NULL AS is_known
    FROM (SELECT *, CASE WHEN coalesce(optimizer, 'SGD') IN ('SGD', 'Adam', 'AdamW', 'Adagrad') THEN true
            WHEN optimizer IN ('Adadelta', 'Adamax', 'ASGD', 'NAdam', 'RAdam', 'RMSprop', 'Rprop') THEN has_device
            WHEN optimizer IN ('LBFGS', 'SparseAdam') THEN false END AS has_form FROM named)
    WHERE has_form IS DISTINCT FROM false
), backward AS (
    -- Conditions on ranks, here and below: an ASOF join sorts its left side, however little is on the right.
    SELECT r.id, max(o.start_ns + o.dur_ns) AS end_ns
    FROM (SELECT rank, start_ns, dur_ns FROM raw.ops
        WHERE is_backward AND rank IN (SELECT rank FROM judged WHERE NOT has_device)) o
    ASOF JOIN (FROM judged WHERE NOT has_device) r ON r.rank = o.rank AND o.start_ns >= r.start_ns
    WHERE o.start_ns + o.dur_ns <= r.start_ns + r.dur_ns GROUP BY r.id
), range AS (
    SELECT r.id, r.rank, r.step, r.start_ns, r.start_ns + r.dur_ns AS end_ns, r.optimizer, r.is_known,
        coalesce(b.end_ns, r.start_ns) AS from_ns
    FROM judged r LEFT JOIN backward b ON b.id = r.id WHERE NOT r.has_device
), part AS (
    -- An operator with others inside it is several pieces.
    SELECT c.rank, r.is_known, c.name, count(DISTINCT c.id) AS n, sum(c.mean_ns / c.per) AS own_ns,
        any_value(c.per) AS per
    FROM (FROM counted WHERE op_phase = 'optimizer' AND rank IN (SELECT rank FROM range)) c
    ASOF JOIN range r ON r.rank = c.rank AND c.start_ns >= r.start_ns
    WHERE c.start_ns >= r.from_ns AND c.start_ns < r.end_ns
    GROUP BY c.rank, r.is_known, c.name
), least_calls AS (
    SELECT rank, is_known, min(n) AS n, count(*) AS kinds FROM part JOIN pass USING (name) GROUP BY rank, is_known
), read AS (
    -- A kind of operator that runs twice per parameter reads and writes twice.
    SELECT rank, is_known, sum(s.tensors * p.n / l.n) AS tensors, any_value(l.kinds) AS kinds,
        if(bool_or(p.name = 'aten::addcdiv_'), 7, 5) AS fused
    FROM part p JOIN pass s USING (name) JOIN least_calls l USING (rank, is_known) GROUP BY rank, is_known
), work AS (
    SELECT rank, is_known, sum(own_ns) AS own_ns, bool_or(contains(name, '_fused_')) AS is_fused,
        list(format('{}: {:.1f} calls, {:.3f} ms', name, n / per, own_ns / 1e6) ORDER BY own_ns DESC, name)[:8]
            AS evidence
    FROM part GROUP BY rank, is_known
), phase AS (
    SELECT r.rank, r.is_known, sum(r.end_ns - r.from_ns) / any_value(c.n_steps) AS dur_ns,
        any_value(c.step_ns) AS step_ns, any_value(r.optimizer) AS optimizer
    FROM range r JOIN scope c USING (rank)
    WHERE (r.rank, r.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
    GROUP BY r.rank, r.is_known
), lost AS (
    SELECT w.*, p.dur_ns, p.step_ns, p.optimizer, greatest(p.dur_ns - w.own_ns, 0)
        + w.own_ns * greatest(1 - r.fused / r.tensors, 0) AS lost_ns
    FROM work w JOIN phase p USING (rank, is_known) JOIN read r USING (rank, is_known)
    WHERE NOT w.is_fused AND r.kinds >= 2
), ran AS (
    SELECT m.id, m.optimizer, m.is_known, c.* FROM (SELECT rank, name AS kernel, op_name AS name, start_ns, end_ns,
            launched_ns, mean_ns, per, step_ns FROM counted WHERE kind = 'kernel' AND op_phase = 'optimizer'
            AND NOT coalesce(op_is_backward, false)) c
    ASOF JOIN (FROM judged WHERE has_device) m ON m.rank = c.rank AND c.launched_ns >= m.start_ns
    WHERE c.launched_ns < m.start_ns + m.dur_ns
), kind AS (
    SELECT rank, id, is_known, name, count(*) AS n, sum(mean_ns) AS own_ns, min(start_ns) AS from_ns,
        max(end_ns) AS to_ns, any_value(per) AS per, any_value(step_ns) AS step_ns, any_value(optimizer) AS optimizer,
        bool_or(regexp_matches(concat_ws(' ', name, kernel), '_foreach_|_fused_|multi_tensor|triton|FusedOptimizer'))
            AS is_list
    FROM ran GROUP BY rank, id, is_known, name
), stretch AS (
    SELECT rank, id, is_known, min(from_ns) AS from_ns, max(to_ns) AS to_ns FROM kind GROUP BY rank, id, is_known
    HAVING max(n) >= $optimizer_kernels AND NOT bool_or(is_list)
), cut AS (
    -- What runs in a stretch is found by the bucket of time that it starts in: a join by ranges alone takes minutes.
    SELECT *, to_ns - from_ns AS dur_ns, 1 + max(to_ns - from_ns) OVER (PARTITION BY rank) AS bucket_ns FROM stretch
), filled AS (
    SELECT w.rank, w.id, w.is_known, any_value(w.dur_ns) - sum(c.mean_ns) AS gap_ns
    FROM (SELECT *, unnest(range(from_ns // bucket_ns, to_ns // bucket_ns + 1)) AS bucket FROM cut) w
    JOIN (SELECT c.rank, c.start_ns, c.mean_ns, c.start_ns // b.bucket_ns AS bucket
        FROM counted c JOIN (SELECT DISTINCT rank, bucket_ns FROM cut) b ON b.rank = c.rank) c
        ON c.rank = w.rank AND c.bucket = w.bucket AND c.start_ns >= w.from_ns AND c.start_ns < w.to_ns
    GROUP BY w.rank, w.id, w.is_known
), loop AS (
    SELECT rank, is_known, name, sum(n) / any_value(per) AS n, sum(own_ns) / any_value(per) AS own_ns,
        any_value(per) AS per, any_value(step_ns) AS step_ns, any_value(optimizer) AS optimizer
    FROM kind SEMI JOIN stretch USING (rank, id) GROUP BY rank, is_known, name
), passes AS (
    SELECT l.rank, l.is_known, count(*) AS kinds,
        if(bool_or(l.name = 'aten::addcdiv_' AND l.optimizer IS DISTINCT FROM 'Adagrad'), 7, 5) AS fused,
        sum(p.tensors * l.n) / min(l.n) AS tensors
    FROM loop l JOIN pass p USING (name) GROUP BY l.rank, l.is_known
), device AS (
    SELECT rank, is_known, sum(l.n) AS n, sum(l.own_ns) AS own_ns, any_value(l.optimizer) AS optimizer,
        any_value(l.step_ns) AS step_ns,
        any_value(f.gap_ns) / any_value(l.per) AS gap_ns,
        any_value(f.gap_ns) / any_value(l.per) + sum(l.own_ns)
            * coalesce(any_value(greatest(1 - p.fused / p.tensors, 0)) FILTER (p.kinds >= 2), 0) AS lost_ns,
        list(format('{}: {:.1f} kernels, {:.3f} ms', l.name, l.n, l.own_ns / 1e6) ORDER BY l.own_ns DESC, l.name)[:8]
            AS evidence
    FROM loop l LEFT JOIN passes p USING (rank, is_known)
    LEFT JOIN (SELECT rank, is_known, sum(greatest(gap_ns, 0)) AS gap_ns FROM filled GROUP BY rank, is_known) f
        USING (rank, is_known)
    GROUP BY rank, is_known
), answered AS (
    SELECT rank, is_known, format('The optimizer takes {:.3f} ms, of which its operators compute {:.3f} ms, one after '
            || 'the other.', dur_ns / 1e6, own_ns / 1e6) AS problem, optimizer, own_ns, lost_ns,
        'medium: the optimizer''s time is marked; how fast one pass over its tensors is depends on the memory'
            AS confidence,
        evidence
    FROM lost
    WHERE 100.0 * lost_ns > $optimizer_step_pct * step_ns
    UNION ALL
    SELECT rank, is_known, format('The optimizer launches {:.1f} kernels, one for each parameter and operator: {:.3f} '
            || 'ms, between which the device has nothing to do for {:.3f} ms.', n, own_ns / 1e6, gap_ns / 1e6),
        optimizer, own_ns, lost_ns,
        'medium: its kernels and the gaps between them are recorded; that one pass over its tensors is enough is '
            || 'assumed', evidence
    FROM device
    WHERE 100.0 * lost_ns > $optimizer_device_pct * step_ns
)
SELECT rank, problem, coalesce('torch.optim.' || optimizer, 'the optimizer') AS place, lost_ns AS saving_ns, confidence,
    evidence
FROM answered WHERE is_known
UNION ALL
SELECT rank, NULL, 'optimizer_phase', NULL,
    format('whether {} has a form for lists of tensors (fused, foreach) is not known; the operators of its step take '
        || '{:.3f} ms', optimizer, own_ns / 1e6), NULL
FROM answered WHERE NOT is_known AND NOT EXISTS (FROM answered WHERE is_known)
ORDER BY rank
