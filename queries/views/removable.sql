-- title = "removable"
-- doc = """What a change could take away from the steps that count, row by row: the part of a row that nothing earlier
-- on any device of its rank covers, or the stretch before it in which all of them were idle. A moment belongs to one
-- row, so that what several changes would take counts once."""
-- materialize = true
-- [columns]
-- cost = "what would be gone: a name of [costs], or data or allocations for the waits of both, each moment once"
-- rank = "process of the job"
-- id = "the row of activities"
-- is_idle = "whether it is the idle stretch before the row"
-- saved_ns = "time that would be gone, per step"
-- [costs]
-- layout = "kernels and primitives that only change the layout of tensors"
-- firstlayer = "the gradient of the network's input"
-- copies = "copies between host and device that nothing earlier covers"
-- pointwise = "biases and activations of the forward pass in kernels of their own"
-- launches = "idle stretches of at most 0.1 ms before a kernel that was launched too late"
-- data = "idle stretches while the host loads data"
-- allocations = "idle stretches while the host allocates or frees device memory"
-- communication = "communication that nothing hides"
WITH every AS MATERIALIZED (
    SELECT id, rank, kind, category, step, start_ns, rank_until_ns AS covered_until_ns,
        rank_alone_ns / per AS saved_ns, per
    FROM counted
), idle AS (
    -- Before the first row of a recording the devices are idle from the start of its step.
    SELECT e.id, e.rank, coalesce(e.covered_until_ns, s.start_ns) AS start_ns, e.start_ns AS end_ns, e.per
    FROM every e
    LEFT JOIN step_times s ON s.rank = e.rank AND s.step = e.step AND e.covered_until_ns IS NULL
    WHERE e.kind IN ('kernel', 'copy') AND e.start_ns > coalesce(e.covered_until_ns, s.start_ns)
), wait AS (
    SELECT 'data' AS cost, rank, start_ns, start_ns + dur_ns AS end_ns FROM raw.ranges
    WHERE kind = 'phase' AND name = 'data' AND depth = 0
    UNION ALL
    SELECT 'allocations', rank, start_ns, start_ns + dur_ns FROM raw.api_calls
    WHERE regexp_matches(name, '^(cuda|hip)(Malloc|Free)(_v\d+|Managed)?$|^cuMem(Alloc|Free)(_v2|Managed)?$')
), waits AS (
    -- What both kinds wait in one idle stretch is neither the longer of the two nor their sum.
    FROM wait UNION ALL SELECT 'data or allocations', rank, start_ns, end_ns FROM wait
    WHERE rank IN (SELECT rank FROM wait GROUP BY rank HAVING count(DISTINCT cost) > 1)
), stretch AS (
    -- Waits of one kind as stretches that do not overlap, each with the time waited before it. What two rows of a time
    -- share is then a difference of two look-ups: to pair every idle stretch with every wait takes minutes.
    SELECT cost, rank, start_ns, end_ns, coalesce(sum(end_ns - start_ns) OVER (
        PARTITION BY cost, rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
    FROM (
        SELECT cost, rank, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM (
            SELECT *, sum(CAST(is_new AS INTEGER)) OVER (
                PARTITION BY cost, rank ORDER BY start_ns, end_ns ROWS UNBOUNDED PRECEDING) AS number
            FROM (
                SELECT *, coalesce(start_ns > max(end_ns) OVER (PARTITION BY cost, rank ORDER BY start_ns, end_ns
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true) AS is_new
                FROM waits WHERE end_ns > start_ns
            )
        )
        GROUP BY cost, rank, number
    )
), met AS (
    SELECT s.cost, i.rank, i.id, i.start_ns, i.per, s.before_ns + least(i.end_ns, s.end_ns) - s.start_ns AS waited_ns
    FROM (SELECT w.cost, i.* FROM idle i JOIN (SELECT DISTINCT cost, rank FROM stretch) w ON w.rank = i.rank) i
    ASOF JOIN stretch s ON s.cost = i.cost AND s.rank = i.rank AND i.end_ns > s.start_ns
    WHERE s.end_ns > i.start_ns
)
SELECT 'layout' AS cost, rank, id, false AS is_idle, saved_ns FROM every WHERE category = 'layout_transpose'
UNION ALL
SELECT 'firstlayer', rank, id, false, saved_ns FROM every WHERE id IN (SELECT id FROM input_gradients)
UNION ALL
SELECT 'copies', rank, id, false, saved_ns FROM every
WHERE kind = 'copy' AND category IN ('memcpy_htod', 'memcpy_dtoh')
UNION ALL
SELECT 'pointwise', rank, id, false, saved_ns FROM unfused
UNION ALL
SELECT 'launches', rank, id, true, saved_ns FROM late_launches
UNION ALL
SELECT m.cost, m.rank, m.id, true,
    (m.waited_ns - coalesce(s.before_ns + least(m.start_ns, s.end_ns) - s.start_ns, 0)) / m.per
FROM met m ASOF LEFT JOIN stretch s ON s.cost = m.cost AND s.rank = m.rank AND m.start_ns >= s.start_ns
UNION ALL
SELECT 'communication', rank, id, false, exposed_ns / per FROM exchanges WHERE is_counted
