-- doc = """Every communication kernel or call of a rank, with the part of its time that no earlier one covers (own_ns)
-- and how much of that computing on the same rank covers (hidden_ns). Copies do not count as computing."""
-- materialize = true
-- [columns]
-- id = "the kernel, operator or collective"
-- rank = "process of the job"
-- name = "as recorded"
-- what = """kind, as recorded, else from the name, in one spelling: all_reduce, all_gather, reduce_scatter, all_to_all,
-- broadcast, send_recv ..."""
-- group_name = "process group, where recorded"
-- sequence = "number of the call in its group, where recorded"
-- step = "step in which it was launched, else in which it began; NULL outside of steps"
-- phase = "pass that launched it, where known: forward, backward, optimizer, data"
-- size_bytes = "bytes of the input, where recorded"
-- group_size = "ranks that take part, where recorded"
-- group_ranks = "which they are, as JSON, where recorded"
-- group_description = "what the program calls the group, where recorded"
-- dtype = "element type, where recorded"
-- start_ns = "start"
-- end_ns = "end"
-- dur_ns = "duration"
-- own_ns = "the part that no earlier communication of the rank covers: sums of it are unions"
-- hidden_ns = "of own_ns, what computing on the same rank covers"
-- exposed_ns = "of own_ns, what nothing hides"
-- step_own_ns = "the part of own_ns inside steps that count"
-- step_exposed_ns = "the part of exposed_ns inside steps that count"
-- is_counted = "whether it begins in a step that counts (is not warm-up); always where there are no steps"
-- per = "steps of its rank that count, or 1 without steps: what a number per step is divided by"
-- step_ns = "mean time of these; without steps the whole recording"
WITH sent AS (
    SELECT e.id, e.rank, e.name, e.start_ns, e.end_ns, e.step, c.kind, c.size_bytes, c.group_size, c.dtype,
        c.group_name, c.group_ranks, c.group_description, c.sequence, k.op_path, k.phase
    FROM performed e LEFT JOIN raw.collectives c ON c.kernel_id = e.id LEFT JOIN raw.kernels k ON k.id = e.id
    WHERE e.category = 'communication' AND (e.kind <> 'op'
        OR e.rank NOT IN (SELECT rank FROM raw.collectives WHERE kernel_id IS NULL))
    UNION ALL
    -- A thread of gloo runs them one after the other, as PyTorch's operators ask for them.
    SELECT c.id, c.rank, c.name, c.start_ns, c.start_ns + c.dur_ns, NULL, c.kind, c.size_bytes, c.group_size, c.dtype,
        c.group_name, c.group_ranks, c.group_description, c.sequence, NULL, o.phase
    FROM raw.collectives c ASOF LEFT JOIN (FROM raw.ops WHERE starts_with(name, 'c10d::')) o
        ON o.rank = c.rank AND c.start_ns >= o.start_ns
    WHERE c.kernel_id IS NULL AND c.rank NOT IN (SELECT rank FROM raw.kernels)
), own AS (
    SELECT *, greatest(start_ns, coalesce(max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS from_ns
    FROM sent
), compute AS (
    SELECT rank, start_ns, end_ns, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    -- Most jobs of one rank send nothing: then nothing of this is asked for.
    FROM performed WHERE category <> 'communication' AND kind <> 'copy' AND rank IN (SELECT rank FROM sent)
), piece AS (
    SELECT rank, greatest(start_ns, coalesce(until_ns, start_ns)) AS start_ns, end_ns
    FROM compute WHERE until_ns IS NULL OR end_ns > until_ns
), busy_until AS (
    SELECT *, coalesce(sum(end_ns - start_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
    FROM piece
), bounded AS (
    -- Computing time before a moment, at both ends: the difference is what covers the row.
    SELECT o.*, coalesce(a.before_ns + least(o.from_ns, a.end_ns) - a.start_ns, 0) AS computed_before_ns,
        coalesce(z.before_ns + least(o.until_ns, z.end_ns) - z.start_ns, 0) AS computed_until_ns
    FROM (SELECT *, greatest(end_ns, from_ns) AS until_ns FROM own) o
    ASOF LEFT JOIN busy_until a ON a.rank = o.rank AND o.from_ns >= a.start_ns
    ASOF LEFT JOIN busy_until z ON z.rank = o.rank AND o.until_ns >= z.start_ns
), windowed AS (
    -- The same of the windows that count, and how much they hold before each of them.
    SELECT *, coalesce(sum(computed_until_ns - computed_before_ns) OVER (PARTITION BY rank ORDER BY start_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) - computed_before_ns AS covered_ns
    FROM (
        SELECT w.*, coalesce(a.before_ns + least(w.start_ns, a.end_ns) - a.start_ns, 0) AS computed_before_ns,
            coalesce(z.before_ns + least(w.end_ns, z.end_ns) - z.start_ns, 0) AS computed_until_ns
        FROM counted_windows w
        ASOF LEFT JOIN busy_until a ON a.rank = w.rank AND w.start_ns >= a.start_ns
        ASOF LEFT JOIN busy_until z ON z.rank = w.rank AND w.end_ns >= z.start_ns
    )
), named AS (
    -- Servers' own reductions over all ranks, of vLLM, SGLang and AITER, do not call themselves that.
    SELECT *, collective_kind(coalesce(kind,
        if(regexp_matches(name, '(?i)cross_device_reduce|quick_?reduce'), 'all_reduce', NULL),
        nullif(regexp_extract(name, '(?i)(all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|broadcast|'
            || 'all[-_]?to[-_]?all|send[-_]?recv|reduce)', 1), ''), '(unknown)')) AS told
    FROM bounded
)
SELECT b.id, b.rank, b.name,
    -- NCCL sends what an all-to-all moves with the kernel that sends from one rank to another.
    if(told = 'send_recv' AND coalesce(regexp_matches(op_path, '(?i)all_?to_?all'), false), 'all_to_all', told)
        AS what,
    b.size_bytes, b.group_size, b.group_name, b.group_ranks, b.group_description, b.sequence, b.dtype,
    b.phase, b.start_ns, b.end_ns, b.end_ns - b.start_ns AS dur_ns,
    b.until_ns - b.from_ns AS own_ns, CAST(b.computed_until_ns - b.computed_before_ns AS BIGINT) AS hidden_ns,
    own_ns - hidden_ns AS exposed_ns,
    coalesce(z.before_ns + least(b.until_ns, z.end_ns) - z.start_ns, 0)
        - coalesce(a.before_ns + least(b.from_ns, a.end_ns) - a.start_ns, 0) AS step_own_ns,
    CAST(step_own_ns - coalesce(z.covered_ns + least(b.computed_until_ns, z.computed_until_ns), 0)
        + coalesce(a.covered_ns + least(b.computed_before_ns, a.computed_until_ns), 0) AS BIGINT) AS step_exposed_ns,
    coalesce(b.step, if(b.start_ns < s.end_ns, s.step, NULL)) AS step,
    coalesce(NOT c.has_steps OR b.start_ns < s.end_ns AND NOT s.is_warmup, false) AS is_counted,
    greatest(c.n_steps, 1) AS per, c.step_ns
FROM named b JOIN scope c ON c.rank = b.rank
ASOF LEFT JOIN windowed a ON a.rank = b.rank AND b.from_ns >= a.start_ns
ASOF LEFT JOIN windowed z ON z.rank = b.rank AND b.until_ns >= z.start_ns
ASOF LEFT JOIN step_times s ON s.rank = b.rank AND b.start_ns >= s.start_ns
