-- doc = """Every activity with the part of its time that no earlier activity of its device covers: sums of it are
-- unions. A step is a window of time on the device: of an activity that reaches across an edge of it, the part inside
-- counts. With what reports per step need of its rank, its operator and its convolution."""
-- materialize = true
-- in_job = "per * greatest({n_ranks}, 1) AS per_rank"
-- [columns]
-- covered_until_ns = "latest end of what started before it on its device"
-- alone_ns = "the part of its time after that"
-- rank_alone_ns = "the same over all devices of its rank"
-- step_dur_ns = "the part of its time inside steps that count"
-- step_alone_ns = "the part of alone_ns inside steps that count"
-- step_rank_alone_ns = "the part of rank_alone_ns inside steps that count"
-- between_ns = "the part of alone_ns between such steps"
-- filter = "filter of the convolution call that it is part of, as KxCxRxS"
-- n_steps = "steps of its rank that count"
-- step_ns = "mean time of these; without steps the whole recording"
-- per = "n_steps, or 1 without steps: what a number per step is divided by"
-- per_rank = """per times the ranks with a time: what a sum over all ranks is divided by, for what one of them does in
-- a step"""
-- op_is_backward = "whether its operator is one of a gradient, or inside one"
-- op_phase = "phase of its operator"
-- starts_in_step = "whether it starts inside a step that counts; always where there are no steps"
-- is_counted = """whether it runs inside a step that counts (is not warm-up) and was launched in one; always without
-- steps"""
-- first_ns = "start of the first step that counts"
-- last_ns = "end of the last one"
-- is_carried = "whether it runs inside a step that counts and was launched outside of them all"
WITH framed AS (
    -- Windows are found by the bucket of time that they lie in: a join by ranges takes minutes.
    SELECT *, greatest((last_ns - first_ns) // (4 * greatest(n_steps, 1)), 1) AS bucket_ns FROM scope
), tile AS MATERIALIZED (
    SELECT w.rank, w.start_ns, w.end_ns, w.next_ns, w.before_ns,
        unnest(range((w.start_ns - c.first_ns) // c.bucket_ns,
            (least(w.next_ns, c.last_ns) - c.first_ns) // c.bucket_ns + 1)) AS bucket
    FROM counted_windows w JOIN framed c USING (rank)
), placed AS (
    SELECT a.*, c.* EXCLUDE (rank),
        least(greatest(a.start_ns, coalesce(a.device_until_ns, a.start_ns)), a.end_ns) AS from_ns,
        least(greatest(a.start_ns, coalesce(a.rank_until_ns, a.start_ns)), a.end_ns) AS rank_from_ns
    FROM activities a LEFT JOIN framed c ON c.rank = a.rank
), reached AS (
    SELECT p.*, coalesce(NOT p.has_steps OR p.start_ns < s.end_ns, false) AS starts_in_step,
        coalesce(s.before_ns + least(p.start_ns, s.end_ns) - s.start_ns, 0) AS at_start_ns,
        coalesce(f.before_ns + least(p.from_ns, f.end_ns) - f.start_ns, 0) AS at_from_ns,
        coalesce(r.before_ns + least(p.rank_from_ns, r.end_ns) - r.start_ns, 0) AS at_rank_from_ns,
        coalesce(z.before_ns + least(p.end_ns, z.end_ns) - z.start_ns, 0) AS at_end_ns
    FROM placed p
    LEFT JOIN tile s ON s.rank = p.rank AND s.bucket = (least(p.start_ns, p.last_ns) - p.first_ns) // p.bucket_ns
        AND least(p.start_ns, p.last_ns) >= s.start_ns AND least(p.start_ns, p.last_ns) < s.next_ns
    LEFT JOIN tile f ON f.rank = p.rank AND f.bucket = (least(p.from_ns, p.last_ns) - p.first_ns) // p.bucket_ns
        AND least(p.from_ns, p.last_ns) >= f.start_ns AND least(p.from_ns, p.last_ns) < f.next_ns
    LEFT JOIN tile r ON r.rank = p.rank
        AND r.bucket = (least(p.rank_from_ns, p.last_ns) - p.first_ns) // p.bucket_ns
        AND least(p.rank_from_ns, p.last_ns) >= r.start_ns AND least(p.rank_from_ns, p.last_ns) < r.next_ns
    LEFT JOIN tile z ON z.rank = p.rank AND z.bucket = (least(p.end_ns, p.last_ns) - p.first_ns) // p.bucket_ns
        AND least(p.end_ns, p.last_ns) >= z.start_ns AND least(p.end_ns, p.last_ns) < z.next_ns
), told AS NOT MATERIALIZED (
    SELECT r.*, r.starts_in_step OR r.at_end_ns > r.at_start_ns AS is_inside,
        -- Where no launch is known, what starts in a step is of it.
        NOT r.has_steps OR t.rank IS NOT NULL OR (r.launched_ns IS NULL AND r.starts_in_step) AS is_own
    FROM reached r
    LEFT JOIN (SELECT DISTINCT rank, step FROM counted_windows) t ON t.rank = r.rank AND t.step = r.step
), launcher AS (
    -- Of the operators only those with an activity, and of these with anything to say: a large trace has many more.
    SELECT id, is_backward, phase FROM raw.ops
    WHERE (is_backward OR phase IS NOT NULL) AND id IN (SELECT op_id FROM performed)
), filtered AS (
    SELECT op_id, array_to_string(filter_shape, 'x') AS filter FROM conv_shapes
), begun AS (
    -- Where an operator that began before the steps goes on: its first piece in them.
    SELECT id, min(start_ns) AS start_ns FROM told WHERE kind = 'op' AND is_inside AND is_own GROUP BY id
    HAVING bool_and(is_continued)
)
SELECT a.* EXCLUDE (from_ns, rank_from_ns, at_start_ns, at_from_ns, at_rank_from_ns, at_end_ns, n_warmup, total_ns,
        has_steps, n_ranks, n_devices, bucket_ns, is_inside, is_own, is_continued),
    a.device_until_ns AS covered_until_ns, a.end_ns - a.from_ns AS alone_ns,
    a.end_ns - a.rank_from_ns AS rank_alone_ns,
    a.at_end_ns - a.at_start_ns AS step_dur_ns, a.at_end_ns - a.at_from_ns AS step_alone_ns,
    a.at_end_ns - a.at_rank_from_ns AS step_rank_alone_ns,
    coalesce(least(greatest(a.end_ns, a.first_ns), a.last_ns) - least(greatest(a.from_ns, a.first_ns), a.last_ns), 0)
        - step_alone_ns AS between_ns,
    s.filter,
    greatest(a.n_steps, 1) AS per, greatest(a.n_steps, 1) * greatest(a.n_ranks, 1) AS per_rank,
    coalesce(g.is_backward, o.is_backward, if(a.op_id IS NULL, NULL, false)) AS op_is_backward, o.phase AS op_phase,
    a.is_continued AND b.id IS NULL AS is_continued,
    coalesce(a.is_inside AND a.is_own, false) AS is_counted,
    coalesce(a.is_inside AND NOT a.is_own, false) AS is_carried
FROM told a
LEFT JOIN begun b ON b.id = a.id AND b.start_ns = a.start_ns AND a.kind = 'op'
LEFT JOIN launcher o ON o.id = a.op_id
LEFT JOIN guessed_linears g ON g.op_id = a.op_id
LEFT JOIN filtered s ON s.op_id = a.call_id
