-- doc = """Steps of each rank that hold work of its devices, where one was recorded. Leading ones of more than 1.5
-- times the median are warm-up: they tune, compile or allocate. Where `traceview collect` let steps go by before it
-- began, so that loaders had started, the time that a step's own thread waits for data longer than in most steps is
-- taken off before: workers deliver in bursts. Guessed steps never are: one that differs from the
-- others makes the guess doubtful. Iterations that an inference engine marks differ by what they compute: a first one
-- that takes longer may be a prefill."""
-- materialize = true
-- [columns]
-- found_by = "how the step was worked out; NULL where the profiler or the program marked it"
-- source = "how it was found, or what marked it"
-- is_guessed = "whether neither the program, its profiler nor its optimizer says that these are steps"
-- noun = "step, or iteration where nothing is trained"
WITH waited AS (
    SELECT d.rank, d.step, sum(d.dur_ns) AS wait_ns FROM raw.ranges d
    WHERE d.kind = 'phase' AND d.name = 'data' AND d.depth = 0 AND EXISTS (
        FROM raw.ranges s WHERE s.kind = 'step' AND s.rank = d.rank AND s.step = d.step
            AND s.pid IS NOT DISTINCT FROM d.pid AND s.tid = d.tid)
        AND d.rank IN (SELECT rank FROM raw.captures WHERE TRY_CAST(options->>'$.options.wait' AS BIGINT) > 0)
    GROUP BY ALL
)
SELECT rank, step, start_ns, end_ns, dur_ns, found_by,
    coalesce(found_by, nullif(regexp_replace(name, '[ _:#=]*\d+$', ''), '') || ' annotations', 'the profiler')
        AS source,
    coalesce(starts_with(found_by, 'guessed '), false) AS is_guessed,
    if(regexp_matches(found_by, '^(guessed )?iterations, '), 'iteration', 'step') AS noun,
    noun = 'step' AND NOT is_guessed
        AND coalesce(bool_and(dur_ns - greatest(wait_ns - median_wait_ns, 0) > 1.5 * median_ns) OVER (
            PARTITION BY rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), false) AS is_warmup
FROM (
    SELECT m.* EXCLUDE (is_empty), median(m.dur_ns) OVER (PARTITION BY m.rank) AS median_ns,
        coalesce(w.wait_ns, 0) AS wait_ns, median(coalesce(w.wait_ns, 0)) OVER (PARTITION BY m.rank) AS median_wait_ns
    FROM marked_steps m LEFT JOIN waited w ON w.rank = m.rank AND w.step = m.step
    WHERE NOT m.is_empty
)
